import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const ingressClassParametersReference = s.object(
  'io.k8s.api.networking.v1.IngressClassParametersReference',
  'Points at settings for a controller.',
  {
    apiGroup: s.pointer(1, s.string(), 'API group of the object; unset for the core group.'),
    kind: s.required(2, s.string(), 'Kind of the object.'),
    name: s.required(3, s.string(), 'Name of the object.'),
    scope: s.pointer(4, s.string(), 'Cluster (the default) or Namespace: whether it has a namespace.', {
      omitEmpty: false,
    }),
    namespace: s.pointer(5, s.string(), 'Namespace of the object. With scope Namespace only, and required then.'),
  },
);
export type IngressClassParametersReference = s.TypeOf<typeof ingressClassParametersReference>;

export const ingressClassSpec = s.object(
  'io.k8s.api.networking.v1.IngressClassSpec',
  'Specification: controller of the Ingresses of a class.',
  {
    controller: s.optional(
      1,
      s.string(),
      'Name of the controller, such as example.com/ingress-controller. Cannot be changed.',
    ),
    parameters: s.pointer(2, ingressClassParametersReference, 'Settings for the controller.'),
  },
);
export type IngressClassSpec = s.TypeOf<typeof ingressClassSpec>;

export const ingressClass = kind(
  'io.k8s.api.networking.v1.IngressClass',
  'A class of Ingresses. The annotation ingressclass.kubernetes.io/is-default-class makes it the default.',
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'IngressClass',
    plural: 'ingressclasses',
    scope: 'Cluster',
    fields: {
      spec: s.optional(2, ingressClassSpec, 'Specification: controller of the class.'),
    },
  },
);
export type IngressClass = s.TypeOf<typeof ingressClass>;
