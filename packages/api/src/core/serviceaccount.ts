import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { localObjectReference, objectReference } from './reference.ts';

export const serviceAccount = kind('io.k8s.api.core.v1.ServiceAccount', '', {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
  shortNames: ['sa'],
  subresources: ['token'],
  fields: {
    secrets: s.optional(2, s.listMap(objectReference, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
    imagePullSecrets: s.optional(3, s.atomicList(localObjectReference), ''),
    automountServiceAccountToken: s.pointer(4, s.boolean(), ''),
  },
});
export type ServiceAccount = s.TypeOf<typeof serviceAccount>;
