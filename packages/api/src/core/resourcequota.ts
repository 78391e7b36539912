import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const scopedResourceSelectorRequirement = s.object('io.k8s.api.core.v1.ScopedResourceSelectorRequirement', '', {
  scopeName: s.required(1, s.oneOf('v1.ResourceQuotaScope', ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity', 'VolumeAttributesClass']), ''),
  operator: s.required(2, s.oneOf('v1.ScopeSelectorOperator', ['In', 'NotIn', 'Exists', 'DoesNotExist']), ''),
  values: s.optional(3, s.atomicList(s.string()), ''),
});
export type ScopedResourceSelectorRequirement = s.TypeOf<typeof scopedResourceSelectorRequirement>;

export const scopeSelector = s.object('io.k8s.api.core.v1.ScopeSelector', '', {
  matchExpressions: s.optional(1, s.atomicList(scopedResourceSelectorRequirement), ''),
}, { mapType: 'atomic' });
export type ScopeSelector = s.TypeOf<typeof scopeSelector>;

export const resourceQuotaSpec = s.object('io.k8s.api.core.v1.ResourceQuotaSpec', '', {
  hard: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  scopes: s.optional(2, s.atomicList(s.oneOf('v1.ResourceQuotaScope', ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity', 'VolumeAttributesClass'])), ''),
  scopeSelector: s.pointer(3, scopeSelector, ''),
});
export type ResourceQuotaSpec = s.TypeOf<typeof resourceQuotaSpec>;

export const resourceQuotaStatus = s.object('io.k8s.api.core.v1.ResourceQuotaStatus', '', {
  hard: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  used: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
});
export type ResourceQuotaStatus = s.TypeOf<typeof resourceQuotaStatus>;

export const resourceQuota = kind('io.k8s.api.core.v1.ResourceQuota', '', {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  scope: 'Namespaced',
  shortNames: ['quota'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, resourceQuotaSpec, ''),
    status: s.optional(3, resourceQuotaStatus, ''),
  },
});
export type ResourceQuota = s.TypeOf<typeof resourceQuota>;
