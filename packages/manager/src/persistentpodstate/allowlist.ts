/** Allowlist of workloads besides StatefulSets whose Pods may have a PersistentPodState. */
import { persistentPodStateWhiteListKey } from '@kruise/api/kruise/well-known';
import type { Caches } from '@kruise/client/informer';
import { groupOf } from '@kruise/schema/kind';
import { type KindName, kindNameIn, listIn, membersOf, readConfigured } from '../configuration/kruise-configuration.ts';

type Reference = { readonly apiVersion: string; readonly kind: string };

/** Returns the allowed kinds. Throws `ParseError` if the list cannot be parsed. */
export function readAllowlistFrom(caches: Caches, namespace: string): readonly KindName[] {
  return readConfigured(caches, namespace, persistentPodStateWhiteListKey, parseAllowlist);
}

/** Reads `{"workloads":[{"Group":…,"Version":…,"Kind":…}]}`. */
export function parseAllowlist(value: unknown): readonly KindName[] {
  return listIn(membersOf(value), 'workloads').map((each) => kindNameIn(membersOf(each)));
}

/** Reports whether a workload is a StatefulSet, of Kubernetes or of Kruise. */
export function isStatefulSet({ apiVersion, kind }: Reference): boolean {
  return kind === 'StatefulSet' && ['apps', 'apps.kruise.io'].includes(groupOf(apiVersion));
}

/** Reports whether a kind is on the list, in any version. */
export function isListed(list: readonly KindName[], { apiVersion, kind }: Reference): boolean {
  const group = groupOf(apiVersion);
  return list.some((each) => each.group === group && each.kind === kind);
}
