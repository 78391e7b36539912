/** Allowlist of custom workloads that a WorkloadSpread may target. */
import { workloadSpreadWhiteListKey } from '@kruise/api/kruise/well-known';
import type { Caches } from '@kruise/client/informer';
import { groupOf } from '@kruise/schema/kind';
import {
  type KindName,
  kindNameIn,
  listIn,
  membersOf,
  readConfigured,
  textIn,
} from '../configuration/kruise-configuration.ts';

export type CustomWorkload = KindName & {
  /** Intermediate owners between such a workload and its Pods, like the ReplicaSets of Deployments. */
  readonly intermediates: readonly KindName[];
  /** The path of the desired replicas; empty if there is none. */
  readonly replicasPath: string;
};

/** Returns the allowed workloads. Throws `ParseError` if the list cannot be parsed. */
export function customWorkloadsIn(caches: Caches, namespace: string): readonly CustomWorkload[] {
  return readConfigured(caches, namespace, workloadSpreadWhiteListKey, readCustomWorkloads);
}

/** Reads `{"workloads":[{"Group":…,"Version":…,"Kind":…,"subResources":[…],"replicasPath":"spec.replicas"}]}`. */
export function readCustomWorkloads(value: unknown): readonly CustomWorkload[] {
  return listIn(membersOf(value), 'workloads').map((each) => {
    const members = membersOf(each);
    return {
      ...kindNameIn(members),
      intermediates: listIn(members, 'subResources').map((kind) => kindNameIn(membersOf(kind))),
      replicasPath: textIn(members, 'replicasPath'),
    };
  });
}

/** Returns the entry of a workload's kind, in any version. */
export function entryFor(
  list: readonly CustomWorkload[],
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): CustomWorkload | undefined {
  const group = groupOf(apiVersion);
  return list.find((each) => each.group === group && each.kind === kind);
}
