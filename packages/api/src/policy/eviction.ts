import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { deleteOptions } from '../meta/options.ts';

export const eviction = kind(
  'io.k8s.api.policy.v1.Eviction',
  'Asks that a Pod be evicted, if its budgets allow. Posted to the eviction subresource of the Pod.',
  {
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    plural: 'evictions',
    scope: 'Namespaced',
    verbs: [],
    fields: {
      deleteOptions: s.pointer(2, deleteOptions, 'How to delete the Pod.'),
    },
  },
);
export type Eviction = s.TypeOf<typeof eviction>;
