import * as s from '@kruise/schema';
import { jsonSchemaProps } from './json-schema.ts';
import { kind } from '../meta/kind.ts';

export const customResourceDefinitionNames = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames', '', {
  plural: s.required(1, s.string(), ''),
  singular: s.optional(2, s.string(), ''),
  shortNames: s.optional(3, s.atomicList(s.string()), ''),
  kind: s.required(4, s.string(), ''),
  listKind: s.optional(5, s.string(), ''),
  categories: s.optional(6, s.atomicList(s.string()), ''),
});
export type CustomResourceDefinitionNames = s.TypeOf<typeof customResourceDefinitionNames>;

export const customResourceValidation = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation', '', {
  openAPIV3Schema: s.pointer(1, jsonSchemaProps, ''),
});
export type CustomResourceValidation = s.TypeOf<typeof customResourceValidation>;

export const customResourceSubresourceStatus = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus', '', {

});
export type CustomResourceSubresourceStatus = s.TypeOf<typeof customResourceSubresourceStatus>;

export const customResourceSubresourceScale = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale', '', {
  specReplicasPath: s.required(1, s.string(), ''),
  statusReplicasPath: s.required(2, s.string(), ''),
  labelSelectorPath: s.pointer(3, s.string(), ''),
});
export type CustomResourceSubresourceScale = s.TypeOf<typeof customResourceSubresourceScale>;

export const customResourceSubresources = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources', '', {
  status: s.pointer(1, customResourceSubresourceStatus, ''),
  scale: s.pointer(2, customResourceSubresourceScale, ''),
});
export type CustomResourceSubresources = s.TypeOf<typeof customResourceSubresources>;

export const customResourceColumnDefinition = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition', '', {
  name: s.required(1, s.string(), ''),
  type: s.required(2, s.string(), ''),
  format: s.optional(3, s.string(), ''),
  description: s.optional(4, s.string(), ''),
  priority: s.optional(5, s.int32(), ''),
  jsonPath: s.required(6, s.string(), ''),
});
export type CustomResourceColumnDefinition = s.TypeOf<typeof customResourceColumnDefinition>;

export const selectableField = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField', '', {
  jsonPath: s.required(1, s.string(), ''),
});
export type SelectableField = s.TypeOf<typeof selectableField>;

export const customResourceDefinitionVersion = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion', '', {
  name: s.required(1, s.string(), ''),
  served: s.required(2, s.boolean(), ''),
  storage: s.required(3, s.boolean(), ''),
  deprecated: s.optional(7, s.boolean(), ''),
  deprecationWarning: s.pointer(8, s.string(), ''),
  schema: s.pointer(4, customResourceValidation, ''),
  subresources: s.pointer(5, customResourceSubresources, ''),
  additionalPrinterColumns: s.optional(6, s.atomicList(customResourceColumnDefinition), ''),
  selectableFields: s.optional(9, s.atomicList(selectableField), ''),
});
export type CustomResourceDefinitionVersion = s.TypeOf<typeof customResourceDefinitionVersion>;

export const serviceReference = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference', '', {
  namespace: s.required(1, s.string(), ''),
  name: s.required(2, s.string(), ''),
  path: s.pointer(3, s.string(), ''),
  port: s.pointer(4, s.int32(), ''),
});
export type ServiceReference = s.TypeOf<typeof serviceReference>;

export const webhookClientConfig = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig', '', {
  url: s.pointer(3, s.string(), ''),
  service: s.pointer(1, serviceReference, ''),
  caBundle: s.optional(2, s.bytes(), ''),
});
export type WebhookClientConfig = s.TypeOf<typeof webhookClientConfig>;

export const webhookConversion = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion', '', {
  clientConfig: s.pointer(2, webhookClientConfig, ''),
  conversionReviewVersions: s.required(3, s.atomicList(s.string()), ''),
});
export type WebhookConversion = s.TypeOf<typeof webhookConversion>;

export const customResourceConversion = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion', '', {
  strategy: s.required(1, s.string({ goType: 'v1.ConversionStrategyType' }), ''),
  webhook: s.pointer(2, webhookConversion, ''),
});
export type CustomResourceConversion = s.TypeOf<typeof customResourceConversion>;

export const customResourceDefinitionSpec = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec', '', {
  group: s.required(1, s.string(), ''),
  names: s.required(3, customResourceDefinitionNames, ''),
  scope: s.required(4, s.string({ goType: 'v1.ResourceScope' }), ''),
  versions: s.required(7, s.atomicList(customResourceDefinitionVersion), ''),
  conversion: s.pointer(9, customResourceConversion, ''),
  preserveUnknownFields: s.optional(10, s.boolean(), ''),
});
export type CustomResourceDefinitionSpec = s.TypeOf<typeof customResourceDefinitionSpec>;

export const customResourceDefinitionCondition = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.CustomResourceDefinitionConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type CustomResourceDefinitionCondition = s.TypeOf<typeof customResourceDefinitionCondition>;

export const customResourceDefinitionStatus = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus', '', {
  conditions: s.optional(1, s.listMap(customResourceDefinitionCondition, ['type']), '', { omitEmpty: false }),
  acceptedNames: s.optional(2, customResourceDefinitionNames, '', { omitEmpty: false }),
  storedVersions: s.optional(3, s.atomicList(s.string()), '', { omitEmpty: false }),
});
export type CustomResourceDefinitionStatus = s.TypeOf<typeof customResourceDefinitionStatus>;

export const customResourceDefinition = kind('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition', '', {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  subresources: ['status'],
  fields: {
    spec: s.required(2, customResourceDefinitionSpec, ''),
    status: s.optional(3, customResourceDefinitionStatus, ''),
  },
});
export type CustomResourceDefinition = s.TypeOf<typeof customResourceDefinition>;
