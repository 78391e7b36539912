import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { objectReference } from './reference.ts';

export const binding = kind('io.k8s.api.core.v1.Binding', '', {
  group: '',
  version: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  scope: 'Namespaced',
  verbs: ['create'],
  fields: {
    target: s.required(2, objectReference, ''),
  },
});
export type Binding = s.TypeOf<typeof binding>;
