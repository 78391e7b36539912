/** ResourceDistribution status. */
import type {
  ResourceDistribution,
  ResourceDistributionCondition,
  ResourceDistributionStatus,
} from '@kruise/api/kruise/resourcedistribution';
import { formatTime, type Instant } from '@kruise/values/time';

type Type = ResourceDistributionCondition['type'];

/** An error in a namespace. */
export type Fault = { readonly type: Type; readonly namespace: string; readonly reason: string };

const types: readonly Type[] = [
  'GetResourceFailed',
  'CreateResourceFailed',
  'UpdateResourceFailed',
  'DeleteResourceFailed',
  'ConflictOccurred',
  'NamespaceNotExists',
];

export function statusOf(
  { metadata, status }: ResourceDistribution,
  targeted: readonly string[],
  faults: readonly Fault[],
  now: Instant,
): ResourceDistributionStatus {
  const faulty = new Set(faults.map(({ namespace }) => namespace));
  const failed = targeted.filter((name) => faulty.has(name)).length;
  const conditions = types.map((type): ResourceDistributionCondition => {
    const matchingFaults = faults.filter((fault) => fault.type === type);
    const state = matchingFaults.length > 0 ? 'True' : 'False';
    const known = status?.conditions?.find((each) => each.type === type);
    const since = known?.status === state ? known.lastTransitionTime : undefined;
    return {
      type,
      status: state,
      lastTransitionTime: since ?? formatTime(now),
      reason: matchingFaults.at(-1)?.reason ?? 'Succeeded',
      ...(matchingFaults.length > 0 ? { failedNamespaces: matchingFaults.map(({ namespace }) => namespace) } : {}),
    };
  });
  return {
    ...counted('desired', targeted.length),
    ...counted('succeeded', targeted.length - failed),
    ...counted('failed', failed),
    ...counted('observedGeneration', metadata.generation ?? 0),
    conditions,
  };
}

/** Omits a number that is zero. */
function counted<K extends string>(name: K, figure: number): { readonly [name in K]?: number } {
  return figure === 0 ? {} : ({ [name]: figure } as { readonly [name in K]?: number });
}
