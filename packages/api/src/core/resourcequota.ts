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
      'Operator: In, NotIn, Exists or DoesNotExist. Most scopes permit only Exists.',
    ),
    values: s.optional(
      3,
      s.atomicList(s.string()),
      'Values to compare with, for In and NotIn: names of priority classes.',
    ),
  },
);
export type ScopedResourceSelectorRequirement = s.TypeOf<typeof scopedResourceSelectorRequirement>;

export const scopeSelector = s.object(
  'io.k8s.api.core.v1.ScopeSelector',
  'Selector of scopes; a counted object must be in all of them.',
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
    'Scopes that all counted objects must be in. Unset: all objects.',
  ),
  scopeSelector: s.pointer(3, scopeSelector, 'Requirements that counted objects must meet, in addition to scopes.'),
});
export type ResourceQuotaSpec = s.TypeOf<typeof resourceQuotaSpec>;

export const resourceQuotaStatus = s.object(
  'io.k8s.api.core.v1.ResourceQuotaStatus',
  'Status: hard limits and usage of a quota.',
  {
    hard: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'The quota that is in force.'),
    used: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'Usage of each resource.'),
  },
);
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
      spec: s.optional(2, resourceQuotaSpec, 'Specification: hard limits and scopes.'),
      status: s.optional(3, resourceQuotaStatus, 'Status: hard limits and usage.'),
    },
  },
);
export type ResourceQuota = s.TypeOf<typeof resourceQuota>;
