import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { jsonSchemaProps } from './json-schema.ts';

export const customResourceDefinitionNames = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames',
  'What a custom resource is called. A name already taken is not accepted.',
  {
    plural: s.required(
      1,
      s.string(),
      'Its name in paths: plural and lower-case, and the first part of the name of the definition.',
    ),
    singular: s.optional(2, s.string(), 'Its name in the singular, lower-case; the kind in lower case by default.'),
    shortNames: s.optional(3, s.atomicList(s.string()), 'Short names for clients, lower-case.'),
    kind: s.required(4, s.string(), 'Its kind, in CamelCase and singular as a rule.'),
    listKind: s.optional(5, s.string(), 'Kind of its lists; the kind with List by default.'),
    categories: s.optional(6, s.atomicList(s.string()), 'Groups of resources it is part of, such as all.'),
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
  'Gives a custom resource a status of its own: the main resource no longer writes it, and /status nothing else.',
  {},
);
export type CustomResourceSubresourceStatus = s.TypeOf<typeof customResourceSubresourceStatus>;

export const customResourceSubresourceScale = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale',
  'Lets a custom resource be scaled, by kubectl scale and by autoscalers.',
  {
    specReplicasPath: s.required(
      1,
      s.string(),
      'Where the wanted number is, such as .spec.replicas. Below .spec, without array indexes.',
    ),
    statusReplicasPath: s.required(2, s.string(), 'Where the present number is kept, such as .status.replicas.'),
    labelSelectorPath: s.pointer(
      3,
      s.string(),
      'Where the selector is kept as text, such as .status.selector. Autoscalers need it.',
    ),
  },
);
export type CustomResourceSubresourceScale = s.TypeOf<typeof customResourceSubresourceScale>;

export const customResourceSubresources = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources',
  'What a custom resource can be asked besides.',
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
    name: s.required(1, s.string(), 'Its heading.'),
    type: s.required(2, s.string(), 'What it shows: integer, number, string, boolean or date.'),
    format: s.optional(3, s.string(), 'What that is more precisely, as in OpenAPI.'),
    description: s.optional(4, s.string(), 'Description of the column.'),
    priority: s.optional(5, s.int32(), '0 for a column always shown; greater ones with -o wide.'),
    jsonPath: s.required(6, s.string(), 'Where in the object the value is, such as .spec.replicas.'),
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
      'Where it is, such as .spec.color: a text, number or boolean, not in an array, and not in metadata.',
    ),
  },
);
export type SelectableField = s.TypeOf<typeof selectableField>;

export const customResourceDefinitionVersion = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion',
  'One version of a custom resource.',
  {
    name: s.required(1, s.string(), 'Name of the version, such as v1beta1; part of the path.'),
    served: s.required(2, s.boolean(), 'Whether it can be asked for.'),
    storage: s.required(3, s.boolean(), 'Whether objects are stored in it; exactly one version is.'),
    deprecated: s.optional(7, s.boolean(), 'Whether clients are warned off it. Default false.'),
    deprecationWarning: s.pointer(
      8,
      s.string(),
      'Warning for clients. Default: that the version is deprecated, and the newer one. Needs deprecated.',
    ),
    schema: s.pointer(4, customResourceValidation, 'What its objects look like; must be given.'),
    subresources: s.pointer(5, customResourceSubresources, 'What it can be asked besides.'),
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
  'How to reach a conversion webhook; exactly one of url and service.',
  {
    url: s.pointer(3, s.string(), 'Where it is, as https://host:port/path. No user, query or fragment.'),
    service: s.pointer(1, serviceReference, 'The Service it is behind.'),
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
    clientConfig: s.pointer(2, webhookClientConfig, 'How to reach it. Must be given.'),
    conversionReviewVersions: s.required(
      3,
      s.atomicList(s.string()),
      'Versions of ConversionReview it understands, the best first. The server takes the first it knows.',
    ),
  },
);
export type WebhookConversion = s.TypeOf<typeof webhookConversion>;

export const customResourceConversion = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion',
  'How an object of one version becomes one of another.',
  {
    strategy: s.required(
      1,
      s.string({ goType: 'v1.ConversionStrategyType' }),
      'None (the default) changes apiVersion alone; Webhook asks a webhook.',
    ),
    webhook: s.pointer(2, webhookConversion, 'The webhook to ask. Only with Webhook.'),
  },
);
export type CustomResourceConversion = s.TypeOf<typeof customResourceConversion>;

export const customResourceDefinitionSpec = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec',
  'What a custom resource is.',
  {
    group: s.required(1, s.string(), 'Its API group; the definition is named <plural>.<group>. Cannot be changed.'),
    names: s.required(3, customResourceDefinitionNames, 'What it is called.'),
    scope: s.required(4, s.string({ goType: 'v1.ResourceScope' }), 'Cluster or Namespaced. Cannot be changed.'),
    versions: s.required(
      7,
      s.atomicList(customResourceDefinitionVersion),
      'Its versions. In discovery the stablest and newest comes first.',
    ),
    conversion: s.pointer(9, customResourceConversion, 'How one version becomes another.'),
    preserveUnknownFields: s.optional(
      10,
      s.boolean(),
      'Whether unknown fields are kept everywhere. Must be false; use x-kubernetes-preserve-unknown-fields.',
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
    lastTransitionTime: s.optional(3, s.time(), 'When the status last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type CustomResourceDefinitionCondition = s.TypeOf<typeof customResourceDefinitionCondition>;

export const customResourceDefinitionStatus = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus',
  'What became of a definition.',
  {
    conditions: s.optional(
      1,
      s.listMap(customResourceDefinitionCondition, ['type']),
      'Whether its names were accepted and it can be used.',
      { omitEmpty: false },
    ),
    acceptedNames: s.optional(
      2,
      customResourceDefinitionNames,
      'The names it is served by; they may not be those asked for.',
      { omitEmpty: false },
    ),
    storedVersions: s.optional(
      3,
      s.atomicList(s.string()),
      'Versions objects may still be stored in. One can be removed from the spec only once it is taken off this list.',
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
      spec: s.required(2, customResourceDefinitionSpec, 'What it is.'),
      status: s.optional(3, customResourceDefinitionStatus, 'What became of it.'),
    },
  },
);
export type CustomResourceDefinition = s.TypeOf<typeof customResourceDefinition>;
