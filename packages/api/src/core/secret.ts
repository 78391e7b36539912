import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const secret = kind('io.k8s.api.core.v1.Secret', '', {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
  fields: {
    immutable: s.pointer(5, s.boolean(), ''),
    data: s.optional(2, s.map(s.bytes()), ''),
    stringData: s.optional(4, s.map(s.string()), ''),
    type: s.optional(3, s.string({ goType: 'v1.SecretType' }), ''),
  },
});
export type Secret = s.TypeOf<typeof secret>;
