import * as s from '@kruise/schema';
import { deleteOptions } from '../meta/options.ts';
import { kind } from '../meta/kind.ts';

export const eviction = kind('io.k8s.api.policy.v1.Eviction', '', {
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
  plural: 'evictions',
  scope: 'Namespaced',
  verbs: [],
  fields: {
    deleteOptions: s.pointer(2, deleteOptions, ''),
  },
});
export type Eviction = s.TypeOf<typeof eviction>;
