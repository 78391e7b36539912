import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { localObjectReference, objectReference } from './reference.ts';

export const serviceAccount = kind('io.k8s.api.core.v1.ServiceAccount', 'An identity for the processes of a Pod.', {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
  shortNames: ['sa'],
  subresources: ['token'],
  fields: {
    secrets: s.optional(
      2,
      s.listMap(objectReference, ['name']),
      'Secrets its Pods may use, if the annotation kubernetes.io/enforce-mountable-secrets is true. Deprecated.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
    imagePullSecrets: s.optional(
      3,
      s.atomicList(localObjectReference),
      'Secrets to fetch images with, for Pods that name none.',
    ),
    automountServiceAccountToken: s.pointer(
      4,
      s.boolean(),
      'Mounts a token in Pods of the service account unless the Pod specifies otherwise. Default true.',
    ),
  },
});
export type ServiceAccount = s.TypeOf<typeof serviceAccount>;
