import * as s from '@kruise/schema';


export const externalDocumentation = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation', '', {
  description: s.optional(1, s.string(), ''),
  url: s.optional(2, s.string(), ''),
});
export type ExternalDocumentation = s.TypeOf<typeof externalDocumentation>;

export const validationRule = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule', '', {
  rule: s.required(1, s.string(), ''),
  message: s.optional(2, s.string(), ''),
  messageExpression: s.optional(3, s.string(), ''),
  reason: s.pointer(4, s.oneOf('v1.FieldValueErrorReason', ['FieldValueRequired', 'FieldValueDuplicate', 'FieldValueInvalid', 'FieldValueForbidden']), ''),
  fieldPath: s.optional(5, s.string(), ''),
  optionalOldSelf: s.pointer(6, s.boolean(), ''),
});
export type ValidationRule = s.TypeOf<typeof validationRule>;

/** A schema within a schema. */
const recursive = s.lazy<JSONSchemaProps>(() => jsonSchemaProps);

export const jsonSchemaProps: s.ObjectNode & s.Typed<JSONSchemaProps> = s.object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps', '', {
  id: s.optional(1, s.string(), ''),
  '$schema': s.optional(2, s.string({ goType: 'v1.JSONSchemaURL' }), ''),
  '$ref': s.pointer(3, s.string(), ''),
  description: s.optional(4, s.string(), ''),
  type: s.optional(5, s.string(), ''),
  format: s.optional(6, s.string(), ''),
  title: s.optional(7, s.string(), ''),
  default: s.pointer(8, s.json(), ''),
  maximum: s.pointer(9, s.double(), ''),
  exclusiveMaximum: s.optional(10, s.boolean(), ''),
  minimum: s.pointer(11, s.double(), ''),
  exclusiveMinimum: s.optional(12, s.boolean(), ''),
  maxLength: s.pointer(13, s.int64(), ''),
  minLength: s.pointer(14, s.int64(), ''),
  pattern: s.optional(15, s.string(), ''),
  maxItems: s.pointer(16, s.int64(), ''),
  minItems: s.pointer(17, s.int64(), ''),
  uniqueItems: s.optional(18, s.boolean(), ''),
  multipleOf: s.pointer(19, s.double(), ''),
  enum: s.optional(20, s.atomicList(s.json()), ''),
  maxProperties: s.pointer(21, s.int64(), ''),
  minProperties: s.pointer(22, s.int64(), ''),
  required: s.optional(23, s.atomicList(s.string()), ''),
  items: s.pointer(24, s.either(recursive, 'list'), ''),
  allOf: s.optional(25, s.atomicList(recursive), ''),
  oneOf: s.optional(26, s.atomicList(recursive), ''),
  anyOf: s.optional(27, s.atomicList(recursive), ''),
  not: s.pointer(28, recursive, ''),
  properties: s.optional(29, s.map(recursive), ''),
  additionalProperties: s.pointer(30, s.either(recursive, 'boolean'), ''),
  patternProperties: s.optional(31, s.map(recursive), ''),
  dependencies: s.optional(32, s.map(s.either(recursive, 'strings'), { goType: 'v1.JSONSchemaDependencies' }), ''),
  additionalItems: s.pointer(33, s.either(recursive, 'boolean'), ''),
  definitions: s.optional(34, s.map(recursive, { goType: 'v1.JSONSchemaDefinitions' }), ''),
  externalDocs: s.pointer(35, externalDocumentation, ''),
  example: s.pointer(36, s.json(), ''),
  nullable: s.optional(37, s.boolean(), ''),
  'x-kubernetes-preserve-unknown-fields': s.pointer(38, s.boolean(), ''),
  'x-kubernetes-embedded-resource': s.optional(39, s.boolean(), ''),
  'x-kubernetes-int-or-string': s.optional(40, s.boolean(), ''),
  'x-kubernetes-list-map-keys': s.optional(41, s.atomicList(s.string()), ''),
  'x-kubernetes-list-type': s.pointer(42, s.string(), ''),
  'x-kubernetes-map-type': s.pointer(43, s.string(), ''),
  'x-kubernetes-validations': s.optional(44, s.listMap(validationRule, ['rule'], { goType: 'v1.ValidationRules' }), '', { patchStrategy: 'merge', patchMergeKey: 'rule' }),
});

/** A JSON Schema, as CRDs write it. Written out because a type inferred from itself would be a circle. */
export type JSONSchemaProps = {
  readonly id?: string;
  readonly '$schema'?: string;
  readonly '$ref'?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[];
  readonly allOf?: readonly JSONSchemaProps[];
  readonly oneOf?: readonly JSONSchemaProps[];
  readonly anyOf?: readonly JSONSchemaProps[];
  readonly not?: JSONSchemaProps;
  readonly properties?: { readonly [name: string]: JSONSchemaProps };
  readonly additionalProperties?: JSONSchemaProps | boolean;
  readonly patternProperties?: { readonly [name: string]: JSONSchemaProps };
  readonly dependencies?: { readonly [name: string]: JSONSchemaProps | readonly string[] };
  readonly additionalItems?: JSONSchemaProps | boolean;
  readonly definitions?: { readonly [name: string]: JSONSchemaProps };
  readonly externalDocs?: ExternalDocumentation;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
};
