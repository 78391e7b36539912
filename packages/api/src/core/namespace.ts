import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const namespaceSpec = s.object('io.k8s.api.core.v1.NamespaceSpec', 'What keeps a namespace from vanishing.', {
  finalizers: s.optional(
    1,
    s.atomicList(s.string({ goType: 'v1.FinalizerName' })),
    'Who must agree before the namespace goes. The server puts kubernetes there, until all within is deleted.',
  ),
});
export type NamespaceSpec = s.TypeOf<typeof namespaceSpec>;

export const namespaceCondition = s.object(
  'io.k8s.api.core.v1.NamespaceCondition',
  'What is known of a namespace that is being deleted.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.NamespaceConditionType' }),
      'Such as NamespaceContentRemaining or NamespaceFinalizersRemaining: what still holds it.',
    ),
    status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Whether it holds: True, False or Unknown.'),
    lastTransitionTime: s.optional(4, s.time(), 'When the status last changed.'),
    reason: s.optional(5, s.string(), 'A word for programs that says why.'),
    message: s.optional(6, s.string(), 'A sentence for people with what remains and how much of it.'),
  },
);
export type NamespaceCondition = s.TypeOf<typeof namespaceCondition>;

export const namespaceStatus = s.object('io.k8s.api.core.v1.NamespaceStatus', 'Where a namespace is in its life.', {
  phase: s.optional(
    1,
    s.oneOf('v1.NamespacePhase', ['Active', 'Terminating']),
    'Active, or Terminating once it is being deleted, when nothing can be created in it.',
  ),
  conditions: s.optional(2, s.listMap(namespaceCondition, ['type']), 'What stands in the way of its deletion.', {
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type NamespaceStatus = s.TypeOf<typeof namespaceStatus>;

export const namespace = kind(
  'io.k8s.api.core.v1.Namespace',
  'A scope for names. To delete it is to delete all that is in it.',
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
      spec: s.optional(2, namespaceSpec, 'What must happen before it can vanish.'),
      status: s.optional(3, namespaceStatus, 'Whether it is in use or about to go.'),
    },
  },
);
export type Namespace = s.TypeOf<typeof namespace>;
