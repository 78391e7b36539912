import type { Rule } from '../language.ts';

/**
 * Schema of a custom resource, as a CustomResourceDefinition has it. It comes from users: it is well formed only after
 * `validateSchema` has accepted it.
 */
export type JsonSchema = {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly title?: string;
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly externalDocs?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  /** A list of schemas decodes but is never valid. */
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly additionalItems?: JsonSchema | boolean;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly patternProperties?: { readonly [pattern: string]: JsonSchema };
  readonly additionalProperties?: JsonSchema | boolean;
  readonly definitions?: { readonly [name: string]: JsonSchema };
  readonly dependencies?: { readonly [name: string]: JsonSchema | readonly string[] };
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
};

/** Returns the schema of an array's items, if any. */
export function itemsOf(schema: JsonSchema): JsonSchema | undefined {
  const { items } = schema;
  return items === undefined || Array.isArray(items) ? undefined : (items as JsonSchema);
}

/** Returns the schema of additional properties, if any. */
export function additionalOf(schema: JsonSchema): JsonSchema | undefined {
  const { additionalProperties } = schema;
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Returns the own schema of a property, if any. */
export function propertyOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** A JSON object: neither null nor an array. */
export type JsonObject = { readonly [name: string]: unknown };

/** Returns whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a field is one of the common fields of all objects. */
export function isObjectField(name: string): boolean {
  return name === 'apiVersion' || name === 'kind' || name === 'metadata';
}

/** Returns whether two JSON values are equal. Shared parts, which are common in updates, cost nothing. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((each, index) => isSame(each, b[index]));
  }
  if (Array.isArray(b)) return false;
  const [left, right] = [a as JsonObject, b as JsonObject];
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]));
}
