import {
  type JsonProperty,
  jsonBool,
  jsonInt,
  jsonIntOrString,
  jsonList,
  jsonMap,
  jsonNumber,
  jsonObject,
  jsonString,
  nullable,
} from '@kruise/cel/json-types';
import type { Type } from '@kruise/cel/types';
import { additionalOf, itemsOf, type JsonSchema } from './json-schema.ts';

/**
 * Returns the CEL type of a value; undefined for values without a known type, which rules cannot access. `name`
 * identifies object types; nested types extend it.
 *
 * ```ts
 * const self = celType({ type: 'object', properties: { replicas: { type: 'integer' } } }, 'Widget', true);
 * ```
 */
export function celType(schema: JsonSchema, name: string, isResource: boolean): Type | undefined {
  const type = plainType(isResource ? withObjectFields(schema) : schema, name);
  return type && schema.nullable ? nullable(type) : type;
}

function plainType(schema: JsonSchema, name: string): Type | undefined {
  if (schema['x-kubernetes-int-or-string']) return jsonIntOrString;
  switch (schema.type) {
    case 'string':
      return jsonString(schema);
    case 'boolean':
      return jsonBool;
    case 'integer':
      return jsonInt;
    case 'number':
      return jsonNumber;
    case 'array': {
      const items = partType(itemsOf(schema), `${name}.@idx`);
      const listType = schema['x-kubernetes-list-type'] as 'atomic' | 'set' | 'map' | undefined;
      return (
        items && jsonList(items, { maxItems: schema.maxItems, listType, mapKeys: schema['x-kubernetes-list-map-keys'] })
      );
    }
    case 'object': {
      const additional = additionalOf(schema);
      if (!additional) return objectType(schema, name);
      const values = partType(additional, `${name}.@elem`);
      return values && jsonMap(values, { maxProperties: schema.maxProperties });
    }
    default:
      return undefined;
  }
}

function objectType({ properties = {}, required = [] }: JsonSchema, name: string): Type {
  const known: [string, JsonProperty][] = [];
  for (const [property, schema] of Object.entries(properties)) {
    const type = partType(schema, `${name}.${property}`);
    if (type)
      known.push([property, { type, isRequired: required.includes(property), hasDefault: schema.default != null }]);
  }
  return jsonObject(name, Object.fromEntries(known));
}

function partType(schema: JsonSchema | undefined, name: string): Type | undefined {
  return schema && celType(schema, name, schema['x-kubernetes-embedded-resource'] === true);
}

/**
 * Adds the fields that rules of a whole object can access: apiVersion, kind and the name, whatever the schema declares.
 */
function withObjectFields(schema: JsonSchema): JsonSchema {
  const text: JsonSchema = { type: 'string' };
  const metadata: JsonSchema = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata } };
}
