import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { objectReference } from './reference.ts';

export const binding = kind(
  'io.k8s.api.core.v1.Binding',
  'Places a Pod on a node. Posted by schedulers to the binding subresource of a Pod.',
  {
    group: '',
    version: 'v1',
    kind: 'Binding',
    plural: 'bindings',
    scope: 'Namespaced',
    verbs: ['create'],
    fields: {
      target: s.required(2, objectReference, 'Node on which the Pod is placed.'),
    },
  },
);
export type Binding = s.TypeOf<typeof binding>;
