import {
  type WorkloadSpread,
  type WorkloadSpreadV1alpha1,
  workloadSpread,
  workloadSpreadV1alpha1,
} from '@kruise/api/kruise/workloadspread';
import { conversionOf } from '../conversion/conversion.ts';

/** v1beta1 renames the fields that select nodes, and has standard conditions. */
export const workloadSpreadConversion = conversionOf(workloadSpreadV1alpha1, workloadSpread, {
  toStored: ({ metadata, spec, status }) => ({
    metadata,
    spec: {
      ...spec,
      subsets: spec.subsets.map(
        ({ requiredNodeSelectorTerm: required, preferredNodeSelectorTerms: preferred, ...subset }) => ({
          ...subset,
          ...(required ? { requiredNodeSelector: required } : {}),
          ...(preferred ? { preferredNodeSelector: preferred } : {}),
        }),
      ),
    },
    ...(status ? { status: withStatuses(status, storedSubset) } : {}),
  }),

  toOlder: ({ metadata, spec, status }) => ({
    metadata,
    spec: {
      ...spec,
      subsets: spec.subsets.map(({ requiredNodeSelector: required, preferredNodeSelector: preferred, ...subset }) => ({
        ...subset,
        ...(required ? { requiredNodeSelectorTerm: required } : {}),
        ...(preferred ? { preferredNodeSelectorTerms: preferred } : {}),
      })),
    },
    ...(status ? { status: withStatuses(status, olderSubset) } : {}),
  }),
});

type Subset = NonNullable<NonNullable<WorkloadSpread['status']>['subsetStatuses']>[number];
type OlderSubset = NonNullable<NonNullable<WorkloadSpreadV1alpha1['status']>['subsetStatuses']>[number];
type Statuses<S> = {
  readonly observedGeneration?: number;
  readonly subsetStatuses?: readonly S[];
  readonly versionedSubsetStatuses?: { readonly [version: string]: readonly S[] };
};

function withStatuses<A, B>(status: Statuses<A>, change: (subset: A) => B): Statuses<B> {
  const { subsetStatuses, versionedSubsetStatuses, ...rest } = status;
  const versions = Object.entries(versionedSubsetStatuses ?? {});
  return {
    ...rest,
    ...(subsetStatuses ? { subsetStatuses: subsetStatuses.map(change) } : {}),
    ...(versions.length > 0
      ? { versionedSubsetStatuses: Object.fromEntries(versions.map(([name, subsets]) => [name, subsets.map(change)])) }
      : {}),
  };
}

function storedSubset({ conditions, ...subset }: OlderSubset): Subset {
  if (!conditions) return subset;
  return {
    ...subset,
    conditions: conditions.map(({ type, status, lastTransitionTime, reason, message }) => ({
      type,
      status: status as 'True' | 'False' | 'Unknown',
      lastTransitionTime: lastTransitionTime ?? null!,
      reason: reason || 'Unknown',
      message: message ?? '',
    })),
  };
}

function olderSubset({ conditions, ...subset }: Subset): OlderSubset {
  if (!conditions) return subset;
  return { ...subset, conditions: conditions.map(({ observedGeneration: _, ...condition }) => condition) };
}
