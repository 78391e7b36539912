/** Which further workloads a WorkloadSpread may be for, as administrators say (workloadspread.md §6). */
import { workloadSpreadWhiteListKey } from '@kruise/api/kruise/well-known';
import type { Caches } from '@kruise/client/informer';
import { groupOf } from '@kruise/schema/kind';
import { type KindName, kindNameIn, listIn, membersOf, readConfigured, textIn } from '../kruise-configuration.ts';

export type CustomWorkload = KindName & {
  /** What stands between such a workload and its Pods, as ReplicaSets do for Deployments. */
  readonly between: readonly KindName[];
  /** Where it says how many Pods it is to have; empty where nothing does. */
  readonly replicasPath: string;
};

/** The workloads that are allowed; throws `ParseError` if that cannot be read. */
export function customWorkloadsIn(caches: Caches, namespace: string): readonly CustomWorkload[] {
  return readConfigured(caches, namespace, workloadSpreadWhiteListKey, readCustomWorkloads);
}

/** Reads `{"workloads":[{"Group":…,"Version":…,"Kind":…,"subResources":[…],"replicasPath":"spec.replicas"}]}`. */
export function readCustomWorkloads(value: unknown): readonly CustomWorkload[] {
  return listIn(membersOf(value), 'workloads').map((each) => {
    const members = membersOf(each);
    return {
      ...kindNameIn(members),
      between: listIn(members, 'subResources').map((kind) => kindNameIn(membersOf(kind))),
      replicasPath: textIn(members, 'replicasPath'),
    };
  });
}

/** The entry of a workload's kind, in whatever version. */
export function entryFor(
  list: readonly CustomWorkload[],
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): CustomWorkload | undefined {
  const group = groupOf(apiVersion);
  return list.find((each) => each.group === group && each.kind === kind);
}
