import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const serviceReference = s.object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference', '', {
  namespace: s.optional(1, s.string(), ''),
  name: s.optional(2, s.string(), ''),
  port: s.pointer(3, s.int32(), ''),
});
export type ServiceReference = s.TypeOf<typeof serviceReference>;

export const apiServiceSpec = s.object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec', '', {
  service: s.pointer(1, serviceReference, ''),
  group: s.optional(2, s.string(), ''),
  version: s.optional(3, s.string(), ''),
  insecureSkipTLSVerify: s.optional(4, s.boolean(), ''),
  caBundle: s.optional(5, s.bytes(), ''),
  groupPriorityMinimum: s.required(7, s.int32(), ''),
  versionPriority: s.required(8, s.int32(), ''),
});
export type APIServiceSpec = s.TypeOf<typeof apiServiceSpec>;

export const apiServiceCondition = s.object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.APIServiceConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type APIServiceCondition = s.TypeOf<typeof apiServiceCondition>;

export const apiServiceStatus = s.object('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceStatus', '', {
  conditions: s.optional(1, s.listMap(apiServiceCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type APIServiceStatus = s.TypeOf<typeof apiServiceStatus>;

export const apiService = kind('io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService', '', {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  scope: 'Cluster',
  categories: ['api-extensions'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, apiServiceSpec, ''),
    status: s.optional(3, apiServiceStatus, ''),
  },
});
export type APIService = s.TypeOf<typeof apiService>;
