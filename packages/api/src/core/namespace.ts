import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const namespaceSpec = s.object('io.k8s.api.core.v1.NamespaceSpec', '', {
  finalizers: s.optional(1, s.atomicList(s.string({ goType: 'v1.FinalizerName' })), ''),
});
export type NamespaceSpec = s.TypeOf<typeof namespaceSpec>;

export const namespaceCondition = s.object('io.k8s.api.core.v1.NamespaceCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.NamespaceConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(4, s.time(), ''),
  reason: s.optional(5, s.string(), ''),
  message: s.optional(6, s.string(), ''),
});
export type NamespaceCondition = s.TypeOf<typeof namespaceCondition>;

export const namespaceStatus = s.object('io.k8s.api.core.v1.NamespaceStatus', '', {
  phase: s.optional(1, s.oneOf('v1.NamespacePhase', ['Active', 'Terminating']), ''),
  conditions: s.optional(2, s.listMap(namespaceCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type NamespaceStatus = s.TypeOf<typeof namespaceStatus>;

export const namespace = kind('io.k8s.api.core.v1.Namespace', '', {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
  shortNames: ['ns'],
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: ['finalize', 'status'],
  fields: {
    spec: s.optional(2, namespaceSpec, ''),
    status: s.optional(3, namespaceStatus, ''),
  },
});
export type Namespace = s.TypeOf<typeof namespace>;
