/**
 * Rules of structural schemas: every field is declared once, outside of `allOf`, `anyOf`, `oneOf` and `not`, which may
 * only add constraints. Otherwise pruning and defaulting would be ambiguous.
 */
import { RE2JS } from 're2js';
import { type Cause, forbidden, required } from '../field-error.ts';
import { additionalOf, isSame, itemsOf, type JsonSchema, propertyOf } from './json-schema.ts';
import { fault } from './report.ts';

type Level = 'root' | 'items' | 'field';

/** Returns all violations of the rules of structural schemas. */
export function validateStructure(schema: JsonSchema, path: string): Cause[] {
  return [...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)];
}

function* invariants(schema: JsonSchema, level: Level, path: string): Generator<Cause> {
  const { properties = {}, type = '' } = schema;
  const items = itemsOf(schema);
  const additional = additionalOf(schema);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;

  if (type === 'array' && !items) yield required(`${path}.items`, 'must be specified');
  if (items) yield* invariants(items, 'items', `${path}.items`);
  for (const [name, property] of Object.entries(properties)) {
    yield* invariants(property, 'field', `${path}.properties[${name}]`);
  }
  if (schema.additionalProperties !== undefined) {
    if (level === 'root') yield forbidden(`${path}.additionalProperties`, 'must not be used at the root');
    if (additional) yield* invariants(additional, 'field', `${path}.additionalProperties`);
  }
  if (isIntOrString) {
    const detail = 'must be false if x-kubernetes-int-or-string is true';
    if (preserves) yield fault('FieldValueInvalid', `${path}.x-kubernetes-preserve-unknown-fields`, true, detail);
    if (isEmbedded) yield fault('FieldValueInvalid', `${path}.x-kubernetes-embedded-resource`, true, detail);
  }
  yield* valueInvariants(
    schema,
    path,
    isIntOrStringChoice(schema.anyOf),
    isIntOrStringChoice(schema.allOf?.[0]?.anyOf),
  );

  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    yield type === '' ? required(`${path}.type`, detail) : fault('FieldValueInvalid', `${path}.type`, type, detail);
  } else if (type === '' && !isIntOrString && !preserves) {
    const place = { root: 'at the root', items: 'for specified array items', field: 'for specified object fields' };
    yield required(`${path}.type`, `must not be empty ${place[level]}`);
  }
  if (isEmbedded && schema.additionalProperties !== undefined) {
    yield forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set');
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    yield fault('FieldValueInvalid', `${path}.type`, type, 'must be object at the root');
  }
  yield* objectFieldInvariants(schema, level, path);
  if (isEmbedded && !preserves && Object.keys(properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    yield required(`${path}.properties`, detail);
  }
}

/** The common fields of all objects are fixed; only the name may be restricted. */
function* objectFieldInvariants(schema: JsonSchema, level: Level, path: string): Generator<Cause> {
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  for (const name of ['kind', 'apiVersion']) {
    const property = propertyOf(schema, name);
    if (!isResource || !property || property.type === 'string') continue;
    yield fault('FieldValueInvalid', `${path}.properties[${name}].type`, property.type ?? '', 'must be string');
  }
  const metadata = propertyOf(schema, 'metadata');
  if (!metadata) return;
  if (isResource && metadata.type !== 'object') {
    yield fault('FieldValueInvalid', `${path}.properties[metadata].type`, metadata.type ?? '', 'must be object');
  }
  if (level !== 'root') return;
  const { type: _type, default: _default, properties: named, ...rest } = metadata;
  const names = Object.keys(named ?? {});
  const isNameOnly =
    named === undefined || (names.length > 0 && names.every((name) => name === 'name' || name === 'generateName'));
  if (isNameOnly && !Object.values(rest).some(isSet)) return;
  const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  yield forbidden(`${path}.properties[metadata]`, detail);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

/**
 * Returns whether an `anyOf` is the permitted form of int-or-string, the only one with types inside of logical
 * operators.
 */
function isIntOrStringChoice(anyOf: readonly JsonSchema[] | undefined): boolean {
  return isSame(anyOf, [{ type: 'integer' }, { type: 'string' }]);
}

function* valueInvariants(
  schema: JsonSchema,
  path: string,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
): Generator<Cause> {
  if (!skipsAnyOf) {
    for (const [index, each] of (schema.anyOf ?? []).entries())
      yield* nestedInvariants(each, `${path}.anyOf[${index}]`, false);
  }
  for (const [index, each] of (schema.allOf ?? []).entries()) {
    yield* nestedInvariants(each, `${path}.allOf[${index}]`, skipsFirstAllOf && index === 0);
  }
  for (const [index, each] of (schema.oneOf ?? []).entries())
    yield* nestedInvariants(each, `${path}.oneOf[${index}]`, false);
  if (schema.not) yield* nestedInvariants(schema.not, `${path}.not`, false);
  const error = schema.pattern ? patternError(schema.pattern) : undefined;
  if (error === undefined) return;
  const detail = `must be a valid regular expression, but isn't: ${error}`;
  yield fault('FieldValueInvalid', `${path}.pattern`, schema.pattern, detail);
}

// Compiling takes time and memory in proportion to the pattern with its repetitions expanded.
const maxPatternLength = 64 * 1024;

// Memo of valid patterns: schemas repeat themselves, and that of quantities occurs dozens of times in a CRD.
const goodPatterns = new Set<string>();
const maxGoodPatterns = 256;

function patternError(pattern: string): string | undefined {
  if (goodPatterns.has(pattern)) return undefined;
  if (pattern.length > maxPatternLength) return 'error parsing regexp: expression too large';
  try {
    RE2JS.compile(pattern);
    if (goodPatterns.size < maxGoodPatterns) goodPatterns.add(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function* nestedInvariants(schema: JsonSchema, path: string, skipsAnyOf: boolean): Generator<Cause> {
  yield* valueInvariants(schema, path, skipsAnyOf, false);
  const items = itemsOf(schema);
  if (items) yield* nestedInvariants(items, `${path}.items`, false);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* nestedInvariants(property, `${path}.properties[${name}]`, false);
  }
  for (const [member, state] of notInLogic) {
    const value = schema[member];
    const isEmpty = state === 'empty' && (value as { readonly length: number } | undefined)?.length === 0;
    // Any value may be a default, even an empty one.
    if (!isEmpty && (isSet(value) || (member === 'default' && value != null))) {
      yield forbidden(`${path}.${member}`, `must be ${state} to be structural`);
    }
  }
  if (propertyOf(schema, 'metadata')) {
    yield forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context');
  }
}

const notInLogic = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
] as const satisfies readonly (readonly [keyof JsonSchema, string])[];

/** Fields in logical operators at the root must be declared. Kubernetes does not check deeper levels. */
function* completeness(values: JsonSchema, schema: JsonSchema, path: string, at: string): Generator<Cause> {
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, each] of (values[word] ?? []).entries()) {
      yield* nestedCompleteness(each, schema, path, `${at}.${word}[${index}]`);
    }
  }
  if (values.not) yield* nestedCompleteness(values.not, schema, path, `${at}.not`);
}

function* nestedCompleteness(
  values: JsonSchema,
  schema: JsonSchema | undefined,
  path: string,
  at: string,
): Generator<Cause> {
  if (!schema) {
    yield required(path, `because it is defined in ${at}`);
    return;
  }
  yield* completeness(values, schema, path, at);
  const items = itemsOf(values);
  if (items) yield* nestedCompleteness(items, itemsOf(schema), `${path}.items`, `${at}.items`);
  for (const [name, property] of Object.entries(values.properties ?? {})) {
    const step = `properties[${name}]`;
    yield* nestedCompleteness(property, propertyOf(schema, name), `${path}.${step}`, `${at}.${step}`);
  }
}
