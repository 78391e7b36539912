import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const configMap = kind('io.k8s.api.core.v1.ConfigMap', '', {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
  shortNames: ['cm'],
  fields: {
    immutable: s.pointer(4, s.boolean(), ''),
    data: s.optional(2, s.map(s.string()), ''),
    binaryData: s.optional(3, s.map(s.bytes()), ''),
  },
});
export type ConfigMap = s.TypeOf<typeof configMap>;
