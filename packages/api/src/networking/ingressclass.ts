import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const ingressClassParametersReference = s.object('io.k8s.api.networking.v1.IngressClassParametersReference', '', {
  apiGroup: s.pointer(1, s.string(), ''),
  kind: s.required(2, s.string(), ''),
  name: s.required(3, s.string(), ''),
  scope: s.pointer(4, s.string(), '', { omitEmpty: false }),
  namespace: s.pointer(5, s.string(), ''),
});
export type IngressClassParametersReference = s.TypeOf<typeof ingressClassParametersReference>;

export const ingressClassSpec = s.object('io.k8s.api.networking.v1.IngressClassSpec', '', {
  controller: s.optional(1, s.string(), ''),
  parameters: s.pointer(2, ingressClassParametersReference, ''),
});
export type IngressClassSpec = s.TypeOf<typeof ingressClassSpec>;

export const ingressClass = kind('io.k8s.api.networking.v1.IngressClass', '', {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
  fields: {
    spec: s.optional(2, ingressClassSpec, ''),
  },
});
export type IngressClass = s.TypeOf<typeof ingressClass>;
