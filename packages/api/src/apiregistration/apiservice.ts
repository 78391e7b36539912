import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const serviceReference = s.object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference',
  'The Service an API server is behind.',
  {
    namespace: s.optional(1, s.string(), 'Namespace of the Service.'),
    name: s.optional(2, s.string(), 'Name of the Service.'),
    port: s.pointer(3, s.int32(), 'Port of the Service. Default 443.'),
  },
);
export type ServiceReference = s.TypeOf<typeof serviceReference>;

export const apiServiceSpec = s.object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec',
  'The server of an API version.',
  {
    service: s.pointer(1, serviceReference, 'The Service of the server that does. Unset: this server itself.'),
    group: s.optional(2, s.string(), 'API group.'),
    version: s.optional(3, s.string(), 'Version of the group.'),
    insecureSkipTLSVerify: s.optional(
      4,
      s.boolean(),
      'Do not check the certificate of the server. Not together with caBundle. Default false.',
    ),
    caBundle: s.optional(
      5,
      s.bytes(),
      'CA bundle (PEM) that validates the certificate of the server. Unset: the system roots.',
      {
        listType: 'atomic',
      },
    ),
    groupPriorityMinimum: s.required(
      7,
      s.int32(),
      'Priority of the group in discovery, from 1 to 20000; the highest is listed first.',
    ),
    versionPriority: s.required(
      8,
      s.int32(),
      'Priority of the version in its group, from 1 to 1000; the highest is listed first.',
    ),
  },
);
export type APIServiceSpec = s.TypeOf<typeof apiServiceSpec>;

export const apiServiceCondition = s.object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition',
  'A condition of an APIService.',
  {
    type: s.required(1, s.string({ goType: 'v1.APIServiceConditionType' }), 'Available is the only one.'),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason, such as Local or FailedDiscoveryCheck.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type APIServiceCondition = s.TypeOf<typeof apiServiceCondition>;

export const apiServiceStatus = s.object(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceStatus',
  'Status of an API service: availability of its server.',
  {
    conditions: s.optional(1, s.listMap(apiServiceCondition, ['type']), 'Conditions, in particular Available.', {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
    }),
  },
);
export type APIServiceStatus = s.TypeOf<typeof apiServiceStatus>;

export const apiService = kind(
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
  'Version of an API group and the server that serves it. Named <version>.<group>.',
  {
    group: 'apiregistration.k8s.io',
    version: 'v1',
    kind: 'APIService',
    plural: 'apiservices',
    scope: 'Cluster',
    categories: ['api-extensions'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, apiServiceSpec, 'Specification: the API and the server that serves it.'),
      status: s.optional(3, apiServiceStatus, 'Status: availability of the server.'),
    },
  },
);
export type APIService = s.TypeOf<typeof apiService>;
