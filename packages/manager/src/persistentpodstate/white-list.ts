/** Which workloads beside StatefulSets may have their Pods brought back, as administrators say (persistentpodstate.md §6). */
import { persistentPodStateWhiteListKey } from '@kruise/api/kruise/well-known';
import type { Caches } from '@kruise/client/informer';
import { groupOf } from '@kruise/schema/kind';
import { type KindName, kindNameIn, listIn, membersOf, readConfigured } from '../kruise-configuration.ts';

type Reference = { readonly apiVersion: string; readonly kind: string };

/** The kinds that are allowed; throws `ParseError` if that cannot be read. */
export function whiteListIn(caches: Caches, namespace: string): readonly KindName[] {
  return readConfigured(caches, namespace, persistentPodStateWhiteListKey, readWhiteList);
}

/** Reads `{"workloads":[{"Group":…,"Version":…,"Kind":…}]}`. */
export function readWhiteList(value: unknown): readonly KindName[] {
  return listIn(membersOf(value), 'workloads').map((each) => kindNameIn(membersOf(each)));
}

/** Whether a workload is a StatefulSet, of Kubernetes or of Kruise. */
export function isStatefulSet({ apiVersion, kind }: Reference): boolean {
  return kind === 'StatefulSet' && ['apps', 'apps.kruise.io'].includes(groupOf(apiVersion));
}

/** Whether a kind is on the list, in whatever version. */
export function isListed(list: readonly KindName[], { apiVersion, kind }: Reference): boolean {
  const group = groupOf(apiVersion);
  return list.some((each) => each.group === group && each.kind === kind);
}
