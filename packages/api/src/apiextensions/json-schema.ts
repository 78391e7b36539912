import * as s from '@kruise/schema';

export const externalDocumentation = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation',
  'Documentation elsewhere.',
  {
    description: s.optional(1, s.string(), 'Description of the external documentation.'),
    url: s.optional(2, s.string(), 'URL of the external documentation.'),
  },
);
export type ExternalDocumentation = s.TypeOf<typeof externalDocumentation>;

export const validationRule = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule',
  'A rule in CEL for a part of an object.',
  {
    rule: s.required(
      1,
      s.string(),
      'CEL expression that must be true; self is the value, and oldSelf the previous value in updates.',
    ),
    message: s.optional(2, s.string(), 'Message if the rule is false. Required if the rule has several lines.'),
    messageExpression: s.optional(3, s.string(), 'An expression that makes the message. If it fails, message is used.'),
    reason: s.pointer(
      4,
      s.oneOf('v1.FieldValueErrorReason', [
        'FieldValueRequired',
        'FieldValueDuplicate',
        'FieldValueInvalid',
        'FieldValueForbidden',
      ]),
      'FieldValueInvalid (the default), FieldValueForbidden, FieldValueRequired or FieldValueDuplicate.',
    ),
    fieldPath: s.optional(5, s.string(), 'The field that is named in the error, below this part, such as .spec.name.'),
    optionalOldSelf: s.pointer(
      6,
      s.boolean(),
      'Apply a rule with oldSelf also when there is no old value: oldSelf is then an optional.',
    ),
  },
);
export type ValidationRule = s.TypeOf<typeof validationRule>;

/** A nested schema. */
const recursive = s.lazy<JSONSchemaProps>(() => jsonSchemaProps);

export const jsonSchemaProps: s.ObjectNode & s.Typed<JSONSchemaProps> = s.object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
  'A schema in the form of OpenAPI v3. To be structural, every part of an object must have a type.',
  {
    id: s.optional(1, s.string(), 'A name for the schema. Not allowed in a definition.'),
    $schema: s.optional(2, s.string({ goType: 'v1.JSONSchemaURL' }), 'The dialect of the schema; of no effect.'),
    $ref: s.pointer(3, s.string(), 'A schema elsewhere. Not allowed in a definition.'),
    description: s.optional(4, s.string(), 'Description of the value, printed by kubectl explain.'),
    type: s.optional(5, s.string(), 'object, array, string, integer, number or boolean.'),
    format: s.optional(
      6,
      s.string(),
      'Format of the value, for example date-time, int32 or ipv4. Unknown formats are ignored.',
    ),
    title: s.optional(7, s.string(), 'A short title.'),
    default: s.pointer(8, s.json(), 'Default value, set where no value is given. Must satisfy the schema.'),
    maximum: s.pointer(9, s.double(), 'The greatest number allowed.'),
    exclusiveMaximum: s.optional(10, s.boolean(), 'Exclusive limit: the value must be less than maximum.'),
    minimum: s.pointer(11, s.double(), 'The least number allowed.'),
    exclusiveMinimum: s.optional(12, s.boolean(), 'Exclusive limit: the value must be greater than minimum.'),
    maxLength: s.pointer(13, s.int64(), 'The most characters allowed.'),
    minLength: s.pointer(14, s.int64(), 'The fewest characters allowed.'),
    pattern: s.optional(
      15,
      s.string(),
      'Regular expression in the syntax of Go, which must match a part of the string.',
    ),
    maxItems: s.pointer(16, s.int64(), 'The most items allowed.'),
    minItems: s.pointer(17, s.int64(), 'The fewest items allowed.'),
    uniqueItems: s.optional(18, s.boolean(), 'Must not be true; use x-kubernetes-list-type set.'),
    multipleOf: s.pointer(19, s.double(), 'Divisor: the number must be a multiple of it.'),
    enum: s.optional(20, s.atomicList(s.json()), 'The values allowed.'),
    maxProperties: s.pointer(21, s.int64(), 'The most members allowed.'),
    minProperties: s.pointer(22, s.int64(), 'The fewest members allowed.'),
    required: s.optional(23, s.atomicList(s.string()), 'Members that must be given.'),
    items: s.pointer(24, s.either(recursive, 'list'), 'The schema of the items of an array; one for all.'),
    allOf: s.optional(25, s.atomicList(recursive), 'Schemas that must all hold; they may only restrict.'),
    oneOf: s.optional(26, s.atomicList(recursive), 'Schemas of which exactly one must hold; they may only restrict.'),
    anyOf: s.optional(27, s.atomicList(recursive), 'Schemas of which at least one must hold; they may only restrict.'),
    not: s.pointer(28, recursive, 'A schema that must not hold.'),
    properties: s.optional(29, s.map(recursive), 'The members of an object, by name.'),
    additionalProperties: s.pointer(
      30,
      s.either(recursive, 'boolean'),
      'The schema of members of any name; instead of properties.',
    ),
    patternProperties: s.optional(
      31,
      s.map(recursive),
      'Not allowed in a definition: name the members, or use additionalProperties.',
    ),
    dependencies: s.optional(
      32,
      s.map(s.either(recursive, 'strings'), { goType: 'v1.JSONSchemaDependencies' }),
      'Not permitted in a definition; CEL rules can express dependencies.',
    ),
    additionalItems: s.pointer(
      33,
      s.either(recursive, 'boolean'),
      'Not allowed in a definition: all items have one schema.',
    ),
    definitions: s.optional(
      34,
      s.map(recursive, { goType: 'v1.JSONSchemaDefinitions' }),
      'Not permitted in a definition.',
    ),
    externalDocs: s.pointer(35, externalDocumentation, 'Documentation elsewhere.'),
    example: s.pointer(36, s.json(), 'An example of a value; of no effect.'),
    nullable: s.optional(
      37,
      s.boolean(),
      'Null is a permitted value. Default false: null is treated as a missing value.',
    ),
    'x-kubernetes-preserve-unknown-fields': s.pointer(
      38,
      s.boolean(),
      'Keep members the schema does not name, here and below until properties are named again. Only true may be set.',
    ),
    'x-kubernetes-embedded-resource': s.optional(
      39,
      s.boolean(),
      'Embedded resource: an object with apiVersion, kind and metadata, which are validated. Only with type object.',
    ),
    'x-kubernetes-int-or-string': s.optional(40, s.boolean(), 'Integer or string. Replaces type.'),
    'x-kubernetes-list-map-keys': s.optional(
      41,
      s.atomicList(s.string()),
      'Keys of the items of a list of type map. They are required or have defaults.',
    ),
    'x-kubernetes-list-type': s.pointer(
      42,
      s.string(),
      'atomic (the default): one whole to server-side apply. set: distinct values. map: objects with unique keys.',
    ),
    'x-kubernetes-map-type': s.pointer(
      43,
      s.string(),
      'granular (the default): members are owned one by one in server-side apply. atomic: one whole.',
    ),
    'x-kubernetes-validations': s.optional(
      44,
      s.listMap(validationRule, ['rule'], { goType: 'v1.ValidationRules' }),
      'Rules in CEL that must all hold.',
      { patchStrategy: 'merge', patchMergeKey: 'rule' },
    ),
  },
);

/** A JSON Schema in a CRD. The type is written out because a type inferred from itself would be circular. */
export type JSONSchemaProps = {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
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
