import * as s from '@kruise/schema';
import type { ConfigMap } from '../core/configmap.ts';
import type { Secret } from '../core/secret.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

const doc = 'Keeps a copy of a Secret or ConfigMap in many namespaces.';

const namespaceList = s.object({
  list: s.optional(s.list(s.object({ name: s.optional(s.string(), 'Name of a namespace.') })), 'The namespaces.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
});

const targetFields = {
  allNamespaces: s.optional(s.boolean(), 'All namespaces except those of the system. Default false.'),
  excludedNamespaces: s.optional(namespaceList, 'Excluded namespaces; they override all other selections.'),
  includedNamespaces: s.optional(namespaceList, 'Namespaces by name.'),
};

const selectorDoc = 'Namespaces by label. An empty selector chooses none.';

export const resourceDistributionTargets = s.object({
  ...targetFields,
  namespaceSelector: s.optional(labelSelector, selectorDoc),
});
export type ResourceDistributionTargets = s.TypeOf<typeof resourceDistributionTargets>;

function specWith<N extends s.Node>(targets: N) {
  return s.object({
    resource: s.required(
      s.preserved<Secret | ConfigMap>({ embeddedResource: true }),
      'The Secret or ConfigMap to copy, complete with apiVersion, kind and name.',
    ),
    targets: s.required(targets, 'Target namespaces: all that are selected in any way, except the excluded ones.'),
  });
}

export const resourceDistributionSpec = specWith(resourceDistributionTargets);
export type ResourceDistributionSpec = s.TypeOf<typeof resourceDistributionSpec>;

const conditionFields = {
  type: s.required(
    s.oneOf([
      'GetResourceFailed',
      'CreateResourceFailed',
      'UpdateResourceFailed',
      'DeleteResourceFailed',
      'ConflictOccurred',
      'NamespaceNotExists',
    ]),
    'Type of the condition: failure to read, create, update or delete a copy, a conflict of names, or a missing namespace.',
  ),
  status: s.required(s.oneOf(['True', 'False', 'Unknown']), 'Status: True if at least one namespace failed.'),
  lastTransitionTime: s.optional(s.dateTime(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(s.string(), 'The last error, or Succeeded.'),
};

export const resourceDistributionCondition = s.object({
  ...conditionFields,
  failedNamespaces: s.optional(s.list(s.string()), 'Namespaces that failed.'),
});
export type ResourceDistributionCondition = s.TypeOf<typeof resourceDistributionCondition>;

function statusWith<N extends s.Node>(condition: N) {
  return s.object({
    desired: s.optional(s.int32(), 'Namespaces that are chosen, whether they exist or not.'),
    succeeded: s.optional(s.int32(), 'Namespaces whose copy is right.'),
    failed: s.optional(s.int32(), 'Namespaces whose copy is missing or wrong.'),
    observedGeneration: s.optional(s.int64(), 'The metadata.generation that has been carried out.'),
    conditions: s.optional(s.list(condition), 'Conditions of the distribution; all six types, in a fixed order.'),
  });
}

export const resourceDistributionStatus = statusWith(resourceDistributionCondition);
export type ResourceDistributionStatus = s.TypeOf<typeof resourceDistributionStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'ResourceDistribution',
  plural: 'resourcedistributions',
  scope: 'Cluster',
  shortNames: ['distributor'],
  subresources: ['status'],
  columns: [
    { name: 'TOTAL', type: 'integer', jsonPath: '.status.desired' },
    { name: 'SUCCEED', type: 'integer', jsonPath: '.status.succeeded' },
    { name: 'FAILED', type: 'integer', jsonPath: '.status.failed' },
  ],
} as const;

export const resourceDistribution = kind('io.kruise.apps.v1beta1.ResourceDistribution', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(resourceDistributionSpec, 'Specification: the resource, and the namespaces of the copies.'),
    status: s.optional(resourceDistributionStatus, 'Status: numbers of copies that succeeded and failed.'),
  },
});
export type ResourceDistribution = s.TypeOf<typeof resourceDistribution>;

const specV1alpha1 = specWith(
  s.object({ ...targetFields, namespaceLabelSelector: s.optional(labelSelector, selectorDoc) }),
);

const statusV1alpha1 = statusWith(
  s.object({
    ...conditionFields,
    failedNamespace: s.optional(s.list(s.string()), 'Namespaces that failed.'),
  }),
);

export const resourceDistributionV1alpha1 = kind('io.kruise.apps.v1alpha1.ResourceDistribution', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(specV1alpha1, 'Specification: the resource, and the namespaces of the copies.'),
    status: s.optional(statusV1alpha1, 'Status: numbers of copies that succeeded and failed.'),
  },
});
export type ResourceDistributionV1alpha1 = s.TypeOf<typeof resourceDistributionV1alpha1>;
