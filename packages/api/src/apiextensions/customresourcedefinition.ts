import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { jsonSchemaProps } from './json-schema.ts';

export const customResourceDefinitionNames = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames',
  'Names of a custom resource. A name that another resource has is not accepted.',
  {
    plural: s.required(
      1,
      s.string(),
      'Plural name in lower case, used in paths; also the first part of the name of the definition.',
    ),
    singular: s.optional(2, s.string(), 'Singular name in lower case; by default the kind in lower case.'),
    shortNames: s.optional(3, s.atomicList(s.string()), 'Short names for clients, lower-case.'),
    kind: s.required(4, s.string(), 'Kind of the objects, in CamelCase and normally singular.'),
    listKind: s.optional(5, s.string(), 'Kind of its lists; the kind with List by default.'),
    categories: s.optional(6, s.atomicList(s.string()), 'Categories of the resource, for example all.'),
  },
);
export type CustomResourceDefinitionNames = s.TypeOf<typeof customResourceDefinitionNames>;

export const customResourceValidation = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation',
  'The schema of a version.',
  {
    openAPIV3Schema: s.pointer(1, jsonSchemaProps, 'The schema, which objects are pruned, defaulted and validated by.'),
  },
);
export type CustomResourceValidation = s.TypeOf<typeof customResourceValidation>;

export const customResourceSubresourceStatus = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus',
  'Status subresource: the main resource no longer writes the status, and /status writes only the status.',
  {},
);
export type CustomResourceSubresourceStatus = s.TypeOf<typeof customResourceSubresourceStatus>;

export const customResourceSubresourceScale = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale',
  'Scale subresource, used by kubectl scale and by autoscalers.',
  {
    specReplicasPath: s.required(
      1,
      s.string(),
      'JSON path of the desired replicas, for example .spec.replicas. Must be below .spec, without array indexes.',
    ),
    statusReplicasPath: s.required(
      2,
      s.string(),
      'JSON path of the current replicas, for example .status.replicas. Must be below .status, without array indexes.',
    ),
    labelSelectorPath: s.pointer(
      3,
      s.string(),
      'JSON path of the label selector in text form, for example .status.selector. Required by HorizontalPodAutoscalers.',
    ),
  },
);
export type CustomResourceSubresourceScale = s.TypeOf<typeof customResourceSubresourceScale>;

export const customResourceSubresources = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources',
  'Subresources of a custom resource.',
  {
    status: s.pointer(1, customResourceSubresourceStatus, 'Write status apart from the rest.'),
    scale: s.pointer(2, customResourceSubresourceScale, 'Be scaled.'),
  },
);
export type CustomResourceSubresources = s.TypeOf<typeof customResourceSubresources>;

export const customResourceColumnDefinition = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition',
  'A column of kubectl get.',
  {
    name: s.required(1, s.string(), 'Heading of the column.'),
    type: s.required(2, s.string(), 'Type of the column: integer, number, string, boolean or date.'),
    format: s.optional(3, s.string(), 'Format of the value, as in OpenAPI.'),
    description: s.optional(4, s.string(), 'Description of the column.'),
    priority: s.optional(5, s.int32(), '0 for a column always shown; greater ones with -o wide.'),
    jsonPath: s.required(6, s.string(), 'JSON path of the value in the object, for example .spec.replicas.'),
  },
);
export type CustomResourceColumnDefinition = s.TypeOf<typeof customResourceColumnDefinition>;

export const selectableField = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField',
  'A field objects can be chosen by.',
  {
    jsonPath: s.required(
      1,
      s.string(),
      'JSON path of the field, for example .spec.color: a string, number or boolean, outside of arrays and metadata.',
    ),
  },
);
export type SelectableField = s.TypeOf<typeof selectableField>;

export const customResourceDefinitionVersion = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion',
  'Version of a custom resource.',
  {
    name: s.required(1, s.string(), 'Name of the version, such as v1beta1; part of the path.'),
    served: s.required(2, s.boolean(), 'Served versions are available in the API.'),
    storage: s.required(
      3,
      s.boolean(),
      'Version in which objects are stored; exactly one version is the storage version.',
    ),
    deprecated: s.optional(7, s.boolean(), 'Deprecated versions cause a warning for each request. Default false.'),
    deprecationWarning: s.pointer(
      8,
      s.string(),
      'Warning for clients. Default: that the version is deprecated, and the newer one. Needs deprecated.',
    ),
    schema: s.pointer(4, customResourceValidation, 'Schema of the objects. Required.'),
    subresources: s.pointer(5, customResourceSubresources, 'Subresources of the version.'),
    additionalPrinterColumns: s.optional(
      6,
      s.atomicList(customResourceColumnDefinition),
      'Columns of kubectl get, after the name. Unset: the age.',
    ),
    selectableFields: s.optional(9, s.atomicList(selectableField), 'Fields its objects can be chosen by; up to 8.'),
  },
);
export type CustomResourceDefinitionVersion = s.TypeOf<typeof customResourceDefinitionVersion>;

export const serviceReference = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference',
  'The Service a conversion webhook is behind.',
  {
    namespace: s.required(1, s.string(), 'Namespace of the Service.'),
    name: s.required(2, s.string(), 'Name of the Service.'),
    path: s.pointer(3, s.string(), 'Path to send requests to, such as /convert.'),
    port: s.pointer(4, s.int32(), 'Port of the Service. Default 443.'),
  },
);
export type ServiceReference = s.TypeOf<typeof serviceReference>;

export const webhookClientConfig = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig',
  'Connection to a webhook; exactly one of url and service.',
  {
    url: s.pointer(
      3,
      s.string(),
      'URL of the webhook, in the form https://host:port/path. Without user, query and fragment.',
    ),
    service: s.pointer(1, serviceReference, 'Service of the webhook.'),
    caBundle: s.optional(
      2,
      s.bytes(),
      'PEM certificates its own is checked against. Unset: those the server trusts anyway.',
    ),
  },
);
export type WebhookClientConfig = s.TypeOf<typeof webhookClientConfig>;

export const webhookConversion = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion',
  'A webhook that converts between versions.',
  {
    clientConfig: s.pointer(2, webhookClientConfig, 'Connection to the webhook. Required.'),
    conversionReviewVersions: s.required(
      3,
      s.atomicList(s.string()),
      'Versions of ConversionReview that the webhook supports, in order of preference. The server uses the first that it supports.',
    ),
  },
);
export type WebhookConversion = s.TypeOf<typeof webhookConversion>;

export const customResourceConversion = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion',
  'Conversion of objects between versions.',
  {
    strategy: s.required(
      1,
      s.string({ goType: 'v1.ConversionStrategyType' }),
      'Strategy: None (the default) changes only apiVersion; Webhook calls a webhook.',
    ),
    webhook: s.pointer(2, webhookConversion, 'Conversion webhook. Only with strategy Webhook.'),
  },
);
export type CustomResourceConversion = s.TypeOf<typeof customResourceConversion>;

export const customResourceDefinitionSpec = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec',
  'Specification of a custom resource: group, names, scope and versions.',
  {
    group: s.required(1, s.string(), 'API group; the name of the definition is <plural>.<group>. Immutable.'),
    names: s.required(3, customResourceDefinitionNames, 'Names of the resource.'),
    scope: s.required(4, s.string({ goType: 'v1.ResourceScope' }), 'Cluster or Namespaced. Cannot be changed.'),
    versions: s.required(
      7,
      s.atomicList(customResourceDefinitionVersion),
      'Versions of the resource. In discovery the most stable and newest version is first.',
    ),
    conversion: s.pointer(9, customResourceConversion, 'Conversion between versions.'),
    preserveUnknownFields: s.optional(
      10,
      s.boolean(),
      'Deprecated: must be false. Use x-kubernetes-preserve-unknown-fields to keep unknown fields.',
    ),
  },
);
export type CustomResourceDefinitionSpec = s.TypeOf<typeof customResourceDefinitionSpec>;

export const customResourceDefinitionCondition = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition',
  'A condition of a CRD.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v1.CustomResourceDefinitionConditionType' }),
      'Established, NamesAccepted, Terminating, NonStructuralSchema or KubernetesAPIApprovalPolicyConformant.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type CustomResourceDefinitionCondition = s.TypeOf<typeof customResourceDefinitionCondition>;

export const customResourceDefinitionStatus = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus',
  'Status of a definition: accepted names, stored versions and conditions.',
  {
    conditions: s.optional(
      1,
      s.listMap(customResourceDefinitionCondition, ['type']),
      'Conditions, for example NamesAccepted and Established.',
      { omitEmpty: false },
    ),
    acceptedNames: s.optional(
      2,
      customResourceDefinitionNames,
      'Names under which the resource is served; they can differ from the requested ones.',
      { omitEmpty: false },
    ),
    storedVersions: s.optional(
      3,
      s.atomicList(s.string()),
      'Versions in which objects may be stored. A version must be removed from this list before it is removed from the spec.',
      { omitEmpty: false },
    ),
  },
);
export type CustomResourceDefinitionStatus = s.TypeOf<typeof customResourceDefinitionStatus>;

export const customResourceDefinition = kind(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  'Adds a kind of your own to the API.',
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    scope: 'Cluster',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    subresources: ['status'],
    fields: {
      spec: s.required(2, customResourceDefinitionSpec, 'Specification: group, names, scope and versions.'),
      status: s.optional(3, customResourceDefinitionStatus, 'Status, written by the server.'),
    },
  },
);
export type CustomResourceDefinition = s.TypeOf<typeof customResourceDefinition>;
