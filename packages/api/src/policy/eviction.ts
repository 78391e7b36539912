import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { deleteOptions } from '../meta/options.ts';

export const eviction = kind(
  'io.k8s.api.policy.v1.Eviction',
  'Eviction requests the eviction of a Pod, subject to its budgets. Posted to the eviction subresource of the Pod.',
  {
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    plural: 'evictions',
    scope: 'Namespaced',
    verbs: [],
    fields: {
      deleteOptions: s.pointer(2, deleteOptions, 'Options of deleting the Pod.'),
    },
  },
);
export type Eviction = s.TypeOf<typeof eviction>;
