import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const namespaceSpec = s.object('io.k8s.api.core.v1.NamespaceSpec', 'Finalizers of a namespace.', {
  finalizers: s.optional(
    1,
    s.atomicList(s.string({ goType: 'v1.FinalizerName' })),
    'Finalizers that block the deletion of the namespace. The server sets kubernetes until all its objects are deleted.',
  ),
});
export type NamespaceSpec = s.TypeOf<typeof namespaceSpec>;

export const namespaceCondition = s.object(
  'io.k8s.api.core.v1.NamespaceCondition',
  'A condition of a terminating namespace.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.NamespaceConditionType' }),
      'Type of the condition, for example NamespaceContentRemaining or NamespaceFinalizersRemaining.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastTransitionTime: s.optional(4, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(5, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(6, s.string(), 'Human-readable message with the remaining objects and their number.'),
  },
);
export type NamespaceCondition = s.TypeOf<typeof namespaceCondition>;

export const namespaceStatus = s.object('io.k8s.api.core.v1.NamespaceStatus', 'Status of a namespace: its phase.', {
  phase: s.optional(
    1,
    s.oneOf('v1.NamespacePhase', ['Active', 'Terminating']),
    'Phase: Active, or Terminating while the namespace is being deleted and no objects can be created in it.',
  ),
  conditions: s.optional(
    2,
    s.listMap(namespaceCondition, ['type']),
    'Conditions that block the deletion of the namespace.',
    {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
    },
  ),
});
export type NamespaceStatus = s.TypeOf<typeof namespaceStatus>;

export const namespace = kind(
  'io.k8s.api.core.v1.Namespace',
  'Namespace is a scope of names. Deleting it deletes all objects in it.',
  {
    group: '',
    version: 'v1',
    kind: 'Namespace',
    plural: 'namespaces',
    scope: 'Cluster',
    shortNames: ['ns'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: ['finalize', 'status'],
    fields: {
      spec: s.optional(2, namespaceSpec, 'Specification: finalizers of the namespace.'),
      status: s.optional(3, namespaceStatus, 'Status: phase of the namespace.'),
    },
  },
);
export type Namespace = s.TypeOf<typeof namespace>;
