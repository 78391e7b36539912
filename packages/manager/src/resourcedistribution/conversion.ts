import {
  type ResourceDistribution,
  type ResourceDistributionV1alpha1,
  resourceDistribution,
  resourceDistributionV1alpha1,
} from '@kruise/api/kruise/resourcedistribution';
import { conversionOf } from '../conversion/conversion.ts';

/** v1beta1 renames the fields that select namespaces, and those that list failed namespaces. */
export const resourceDistributionConversion = conversionOf(resourceDistributionV1alpha1, resourceDistribution, {
  toStored({ metadata, spec, status }) {
    const { namespaceLabelSelector: selector, ...targets } = spec.targets;
    return {
      metadata,
      spec: { ...spec, targets: { ...targets, ...(selector ? { namespaceSelector: selector } : {}) } },
      ...(status ? { status: storedStatus(status) } : {}),
    };
  },

  toOlder({ metadata, spec, status }) {
    const { namespaceSelector: selector, ...targets } = spec.targets;
    return {
      metadata,
      spec: { ...spec, targets: { ...targets, ...(selector ? { namespaceLabelSelector: selector } : {}) } },
      ...(status ? { status: olderStatus(status) } : {}),
    };
  },
});

type Status = NonNullable<ResourceDistribution['status']>;
type OlderStatus = NonNullable<ResourceDistributionV1alpha1['status']>;

function storedStatus({ conditions, ...status }: OlderStatus): Status {
  if (!conditions) return status;
  return {
    ...status,
    conditions: conditions.map(({ failedNamespace: failed = [], ...condition }) => ({
      ...condition,
      ...(failed.length > 0 ? { failedNamespaces: failed } : {}),
    })),
  };
}

function olderStatus({ conditions, ...status }: Status): OlderStatus {
  if (!conditions) return status;
  return {
    ...status,
    conditions: conditions.map(({ failedNamespaces: failed = [], ...condition }) => ({
      ...condition,
      ...(failed.length > 0 ? { failedNamespace: failed } : {}),
    })),
  };
}
