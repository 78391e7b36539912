import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const scopedResourceSelectorRequirement = s.object(
  'io.k8s.api.core.v1.ScopedResourceSelectorRequirement',
  'A demand on what a quota counts.',
  {
    scopeName: s.required(
      1,
      s.oneOf('v1.ResourceQuotaScope', [
        'Terminating',
        'NotTerminating',
        'BestEffort',
        'NotBestEffort',
        'PriorityClass',
        'CrossNamespacePodAffinity',
        'VolumeAttributesClass',
      ]),
      'Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass, CrossNamespacePodAffinity or VolumeAttributesClass.',
    ),
    operator: s.required(
      2,
      s.oneOf('v1.ScopeSelectorOperator', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
      'In, NotIn, Exists or DoesNotExist. All but two of the scopes take Exists only.',
    ),
    values: s.optional(3, s.atomicList(s.string()), 'What to compare with, for In and NotIn: names of classes.'),
  },
);
export type ScopedResourceSelectorRequirement = s.TypeOf<typeof scopedResourceSelectorRequirement>;

export const scopeSelector = s.object(
  'io.k8s.api.core.v1.ScopeSelector',
  'What a quota counts, by demands that must all hold.',
  {
    matchExpressions: s.optional(1, s.atomicList(scopedResourceSelectorRequirement), 'The demands.'),
  },
  { mapType: 'atomic' },
);
export type ScopeSelector = s.TypeOf<typeof scopeSelector>;

export const resourceQuotaSpec = s.object('io.k8s.api.core.v1.ResourceQuotaSpec', 'The quota of a namespace.', {
  hard: s.optional(
    1,
    s.map(s.quantity(), { goType: 'v1.ResourceList' }),
    'The most of each, such as requests.cpu, limits.memory, pods or count/deployments.apps.',
  ),
  scopes: s.optional(
    2,
    s.atomicList(
      s.oneOf('v1.ResourceQuotaScope', [
        'Terminating',
        'NotTerminating',
        'BestEffort',
        'NotBestEffort',
        'PriorityClass',
        'CrossNamespacePodAffinity',
        'VolumeAttributesClass',
      ]),
    ),
    'Count only what is in all of these scopes. Unset: all.',
  ),
  scopeSelector: s.pointer(3, scopeSelector, 'Count only what meets these demands, besides scopes.'),
});
export type ResourceQuotaSpec = s.TypeOf<typeof resourceQuotaSpec>;

export const resourceQuotaStatus = s.object('io.k8s.api.core.v1.ResourceQuotaStatus', 'How much of a quota is used.', {
  hard: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'The quota that is in force.'),
  used: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'What is used up of each.'),
});
export type ResourceQuotaStatus = s.TypeOf<typeof resourceQuotaStatus>;

export const resourceQuota = kind(
  'io.k8s.api.core.v1.ResourceQuota',
  'Limits what all objects of a namespace together may use. Objects that would exceed it are refused.',
  {
    group: '',
    version: 'v1',
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    scope: 'Namespaced',
    shortNames: ['quota'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, resourceQuotaSpec, 'What is allowed.'),
      status: s.optional(3, resourceQuotaStatus, 'What is used.'),
    },
  },
);
export type ResourceQuota = s.TypeOf<typeof resourceQuota>;
