/** Validation of schemas in CustomResourceDefinitions beyond the structural rules, with Kubernetes' messages. */
import { maxCardinality } from '@kruise/cel/json-types';
import { formatGoSyntax, goStringList, quote } from '@kruise/values/go-syntax';
import { type Cause, forbidden, internal, notSupported, required } from '../field-error.ts';
import type { Rule } from '../language.ts';
import { celType } from './cel-type.ts';
import { validateDefaults } from './default-rules.ts';
import type { MetadataRules } from './embedded.ts';
import { followFieldPath } from './field-path.ts';
import { additionalOf, isObjectField, itemsOf, type JsonSchema, propertyOf } from './json-schema.ts';
import { fault } from './report.ts';
import { type CompiledRule, compileRules, type Expressions, selfTypeName } from './rules.ts';
import { validateStructure } from './structural-rules.ts';

/** Context of the version that a schema belongs to. */
export type SchemaRulesOptions = {
  readonly metadata: MetadataRules;
  /** True if the version has a status subresource. */
  readonly hasStatus: boolean;
  /** Returns the library version of an expression. */
  readonly expressions: (text: string) => Expressions;
  /** True if the schema is unchanged: then rules that have become too expensive are kept. */
  readonly isUnchanged: boolean;
};

/**
 * Returns all errors of the schema of a version; `path` is its path in the CRD.
 *
 * ```ts
 * const causes = validateSchema(schema, 'spec.versions[0].schema.openAPIV3Schema', options);
 * ```
 */
export function validateSchema(schema: JsonSchema, path: string, options: SchemaRulesOptions): Cause[] {
  const at = `${path}.openAPIV3Schema`;
  if (isTooDeep(schema, maxDepth)) return [forbidden(at, `must not be nested more than ${maxDepth} levels deep`)];
  const causes = [...validateRoot(schema, at, options.hasStatus)];
  const structural = hasForeignParts(schema) ? [] : validateStructure(schema, at);
  const defaults =
    structural.length > 0 || hasForeignParts(schema) ? [] : [...validateDefaults(schema, at, options.metadata)];
  causes.push(...structural, ...defaults);

  const isSound = structural.length === 0 && defaults.length === 0 && !hasForeignParts(schema);
  const walk: Walk = { ...options, schemaCauses: [], ruleCauses: [], costs: isSound ? new TotalCost() : undefined };
  validateNode(schema, at, { isRoot: true, cardinality: 1 }, walk);
  causes.push(...walk.schemaCauses, ...walk.ruleCauses);
  if (walk.costs) causes.push(...walk.costs.causes(at));
  if (causes.length === 0 && !isSound) {
    causes.push(fault('FieldValueInvalid', at, '', "OpenAPIV3Schema 'schema' is not supported"));
  }
  return causes;
}

// Far deeper than any hand-written schema, and far below the limit of the stack.
const maxDepth = 200;

function isTooDeep(schema: unknown, depth: number): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if (depth === 0) return true;
  for (const name in schema) {
    const member = (schema as { readonly [name: string]: unknown })[name];
    // A level of a schema is one or two levels of JSON; a map of properties adds none.
    const cost = name === 'properties' || Array.isArray(member) ? 0 : 1;
    if (
      cost === 0 ? Object.values(member ?? {}).some((each) => isTooDeep(each, depth - 1)) : isTooDeep(member, depth - 1)
    ) {
      return true;
    }
  }
  return false;
}

/** With a status subresource the root may not have constraints, because the status is validated alone. */
function* validateRoot(schema: JsonSchema, path: string, hasStatus: boolean): Generator<Cause> {
  if (hasStatus && schema.type !== undefined && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    yield fault('FieldValueInvalid', `${path}.type`, schema.type, detail);
  } else if (
    hasStatus &&
    Object.entries(schema).some(([member, value]) => value != null && !allowedAtRoot.has(member))
  ) {
    const detail = `only [${rootFieldNames}] fields are allowed at the root of the schema if the status subresource is enabled`;
    const members = Object.entries(schema).map(([member, value]) => `${member}:${formatGoSyntax(value)}`);
    const message = `Invalid value: apiextensions.JSONSchemaProps{${members.join(', ')}}: ${detail}`;
    yield { reason: 'FieldValueInvalid', field: path, message };
  }
  if (schema.nullable) yield forbidden(`${path}.nullable`, 'nullable cannot be true at the root');
}

const rootFieldNames =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';
const allowedAtRoot: ReadonlySet<string> = new Set([
  ...rootFieldNames
    .split(' ')
    .filter((name) => !name.startsWith('X'))
    .map((name) => name.charAt(0).toLowerCase() + name.slice(1)),
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);

/**
 * Returns whether a schema has keywords that structural schemas forbid; they are reported and nothing else is checked.
 */
function hasForeignParts(schema: JsonSchema): boolean {
  if (schema.id || schema.$schema || schema.$ref || schema.additionalItems !== undefined) return true;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) return true;
  if (schema.patternProperties || schema.dependencies || schema.definitions || Array.isArray(schema.items)) return true;
  const parts = [itemsOf(schema), additionalOf(schema), schema.not, ...Object.values(schema.properties ?? {})];
  return [...parts, ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(
    (part) => part !== undefined && hasForeignParts(part),
  );
}

type Walk = SchemaRulesOptions & {
  readonly schemaCauses: Cause[];
  readonly ruleCauses: Cause[];
  /** Absent if rules are not compiled because the schema is invalid. */
  readonly costs: TotalCost | undefined;
};

type Context = {
  readonly isRoot?: boolean;
  readonly isInMetadata?: boolean;
  /** Reason why a default is forbidden. */
  readonly noDefaults?: string;
  /** The nearest ancestor whose items cannot be correlated after an update. */
  readonly uncorrelatable?: string;
  /** Maximum number of occurrences in an object; undefined if it is limited only by the size of a request. */
  readonly cardinality?: number | undefined;
  /** True inside of logical operators, where rules are forbidden. */
  readonly isLogic?: boolean;
};

function validateNode(schema: JsonSchema, path: string, context: Context, walk: Walk): void {
  const before = walk.schemaCauses.length;
  walk.schemaCauses.push(...validateMembers(schema, path, context));
  const isResource = context.isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const inside: Context = { ...context, isRoot: false, cardinality: partCardinality(schema, context.cardinality) };

  const additional = additionalOf(schema);
  if (additional) {
    const noDefaults = context.isInMetadata
      ? 'inside additionalProperties applying to object metadata'
      : context.noDefaults;
    validateNode(
      additional,
      `${path}.additionalProperties`,
      { ...inside, ...(noDefaults ? { noDefaults } : {}) },
      walk,
    );
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = isResource && isObjectField(name);
    const meta: Context = isMeta
      ? { isInMetadata: true, ...(context.isRoot ? { noDefaults: `in top-level ${name}` } : {}) }
      : {};
    validateNode(property, `${path}.properties[${name}]`, { ...inside, ...meta }, walk);
  }
  const logic: Context = { ...context, isRoot: false, isLogic: true };
  if (schema.not) validateNode(schema.not, `${path}.not`, logic, walk);
  for (const word of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, each] of (schema[word] ?? []).entries())
      validateNode(each, `${path}.${word}[${index}]`, logic, walk);
  }
  if (Array.isArray(schema.items)) {
    for (const [index, each] of schema.items.entries()) validateNode(each, `${path}.items[${index}]`, inside, walk);
  }
  const items = itemsOf(schema);
  if (items) {
    const isMapLike = schema['x-kubernetes-list-type'] === 'map';
    const uncorrelatable = context.uncorrelatable ?? (isMapLike ? undefined : path);
    validateNode(items, `${path}.items`, { ...inside, ...(uncorrelatable ? { uncorrelatable } : {}) }, walk);
  }
  walk.schemaCauses.push(...validateListType(schema, path), ...validateRuleTexts(schema, path));
  // For an invalid schema, errors of rules would only confuse.
  if (walk.schemaCauses.length === before && !context.isLogic && walk.costs) validateRules(schema, path, context, walk);
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function* validateMembers(schema: JsonSchema, path: string, { noDefaults, isInMetadata }: Context): Generator<Cause> {
  const unsupported = (member: string) => forbidden(`${path}.${member}`, `${member} is not supported`);
  if (schema.type && !types.includes(schema.type)) yield notSupported(`${path}.type`, schema.type, types);
  if (schema.default != null && noDefaults !== undefined)
    yield forbidden(`${path}.default`, `must not be set ${noDefaults}`);
  if (schema.id) yield unsupported('id');
  if (schema.additionalItems !== undefined) yield unsupported('additionalItems');
  if (Object.keys(schema.patternProperties ?? {}).length > 0) yield unsupported('patternProperties');
  if (Object.keys(schema.definitions ?? {}).length > 0) yield unsupported('definitions');
  if (schema.dependencies) yield unsupported('dependencies');
  if (schema.$ref !== undefined) yield unsupported('$ref');
  if (schema.type === 'null')
    yield forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(schema.items)) yield forbidden(`${path}.items`, 'items must be a schema object and not an array');
  if (isInMetadata && schema['x-kubernetes-embedded-resource']) {
    yield forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta');
  }
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    yield forbidden(`${path}.uniqueItems`, detail);
  }
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  if (hasProperties && schema.additionalProperties !== undefined && schema.additionalProperties !== true) {
    yield forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive');
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    yield fault(
      'FieldValueInvalid',
      `${path}.x-kubernetes-preserve-unknown-fields`,
      false,
      'must be true or undefined',
    );
  }
}

function* validateListType(schema: JsonSchema, path: string): Generator<Cause> {
  const { type = '' } = schema;
  const { 'x-kubernetes-map-type': mapType, 'x-kubernetes-list-type': listType } = schema;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const wrongType = (detail: string) =>
    type === '' ? required(`${path}.type`, detail) : fault('FieldValueInvalid', `${path}.type`, type, detail);
  const items = itemsOf(schema);

  if (mapType !== undefined && type !== 'object')
    yield wrongType('must be object if x-kubernetes-map-type is specified');
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    yield notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']);
  }
  if (listType !== undefined && type !== 'array')
    yield wrongType('must be array if x-kubernetes-list-type is specified');
  else if (listType === 'set' && items) yield* validateSetItems(items, `${path}.items`);
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    yield notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']);
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const at = `${path}.x-kubernetes-list-type`;
    yield listType === undefined ? required(at, detail) : fault('FieldValueInvalid', at, listType, detail);
  }
  if (listType === 'map') yield* validateMapLikeList(schema, keys, path);
  if ((listType === 'set' || listType === 'map') && items) {
    if (items.nullable) {
      yield forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`);
    }
    if (listType === 'map') yield* validateKeys(items, keys, `${path}.items`);
  }
}

/** Items of a set must be atomic. */
function* validateSetItems(items: JsonSchema, path: string): Generator<Cause> {
  const { 'x-kubernetes-list-type': listType } = items;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    yield fault('FieldValueInvalid', `${path}.x-kubernetes-list-type`, listType, detail);
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    yield fault('FieldValueInvalid', `${path}.x-kubernetes-map-type`, listType, detail);
  }
}

function* validateMapLikeList(schema: JsonSchema, keys: readonly string[], path: string): Generator<Cause> {
  const at = `${path}.x-kubernetes-list-map-keys`;
  const wrongKeys = (detail: string): Cause => ({
    reason: 'FieldValueInvalid',
    field: at,
    message: `Invalid value: ${goStringList(keys)}: ${detail}`,
  });
  const items = itemsOf(schema);
  if (keys.length === 0) yield required(at, 'must not be empty if x-kubernetes-list-type is map');
  if (schema.items === undefined) {
    yield required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map');
  } else if (!items) {
    const detail = 'must only have a single schema if x-kubernetes-list-type is map';
    yield fault('FieldValueInvalid', `${path}.items`, schema.items, detail);
  } else if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    yield fault('FieldValueInvalid', `${path}.items.type`, items.type ?? '', detail);
  } else {
    const seen = new Set<string>();
    for (const key of keys) {
      const property = propertyOf(items, key);
      if (!property) yield wrongKeys('entries must all be names of item properties');
      else if (property.type === 'array' || property.type === 'object') {
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        yield fault('FieldValueInvalid', `${path}.items.properties[${key}].type`, items.type, detail);
      }
      if (seen.has(key)) yield wrongKeys('must not contain duplicate entries');
      seen.add(key);
    }
  }
}

function* validateKeys(items: JsonSchema, keys: readonly string[], path: string): Generator<Cause> {
  const why = 'this property is in x-kubernetes-list-map-keys, so it';
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (!property) continue;
    const at = `${path}.properties[${key}]`;
    if (!items.required?.includes(key) && property.default == null) {
      yield required(`${at}.default`, `${why} must have a default or be a required property`);
    }
    if (property.nullable) yield forbidden(`${at}.nullable`, `${why} cannot be nullable`);
  }
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

function* validateRuleTexts(schema: JsonSchema, path: string): Generator<Cause> {
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const { rule: text = '', message = '', messageExpression = '', fieldPath = '', reason } = rule;
    if (text.trim() === '') yield required(`${at}.rule`, 'rule is not specified');
    else if (message !== '' && message.trim() === '') {
      yield fault('FieldValueInvalid', `${at}.message`, message, 'message must be non-empty if specified');
    } else if (/[\n\r]/.test(message.trim())) {
      yield fault('FieldValueInvalid', `${at}.message`, message, 'message must not contain line breaks');
    } else if (/[\n\r]/.test(text.trim()) && message.trim() === '') {
      yield required(`${at}.message`, 'message must be specified if rule contains line breaks');
    }
    if (messageExpression !== '' && messageExpression.trim() === '') {
      yield required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified');
    }
    if (reason !== undefined && !reasons.includes(reason)) yield notSupported(`${at}.reason`, reason, reasons);
    if (fieldPath === '') continue;
    const wrongPath = (detail: string) => fault('FieldValueInvalid', `${at}.fieldPath`, fieldPath, detail);
    if (fieldPath.trim() === '') yield wrongPath('fieldPath must be non-empty if specified');
    if (/[\n\r]/.test(fieldPath)) yield wrongPath('fieldPath must not contain line breaks');
    if (!hasForeignParts(schema) && 'error' in followFieldPath(fieldPath, schema))
      yield wrongPath('fieldPath must be a valid path');
  }
}

/** Maximum estimated cost of one rule, and of all rules of a schema. */
const ruleCostLimit = 10_000_000;
const schemaCostLimit = 100_000_000;

function validateRules(schema: JsonSchema, path: string, context: Context, walk: Walk): void {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return;
  const isResource = context.isRoot === true || schema['x-kubernetes-embedded-resource'] === true;
  const type = celType(schema, selfTypeName, isResource);
  const at = `${path}.x-kubernetes-validations`;
  if (!type) {
    const detail =
      'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
    walk.ruleCauses.push(internal(at, detail));
    return;
  }
  const cardinality = context.cardinality ?? maxCardinality(type);
  for (const [index, compiled] of compileRules(schema, type, walk.expressions).entries()) {
    walk.ruleCauses.push(...validateRule(compiled, `${at}[${index}]`, cardinality, context, walk));
  }
}

function* validateRule(
  compiled: CompiledRule,
  at: string,
  cardinality: number,
  context: Context,
  walk: Walk,
): Generator<Cause> {
  const { rule, program, error, message, messageError, usesOldSelf } = compiled;
  const cost = saturated(Number(program?.estimatedCost.max ?? 0) * cardinality);
  if (!walk.isUnchanged && cost > ruleCostLimit) {
    yield forbidden(`${at}.rule`, costMessage('estimated rule cost', cost, ruleCostLimit));
  }
  walk.costs!.add(`${at}.rule`, cost);
  if (error !== undefined) yield wrongRule(`${at}.rule`, rule, error);
  if (messageError !== undefined) yield wrongRule(`${at}.messageExpression`, rule, messageError);
  else if (message) {
    const messageCost = saturated(Number(message.estimatedCost.max));
    if (!walk.isUnchanged && messageCost > ruleCostLimit) {
      yield forbidden(
        `${at}.messageExpression`,
        costMessage('estimated messageExpression cost', messageCost, ruleCostLimit),
      );
    }
    walk.costs!.add(`${at}.messageExpression`, messageCost);
  }
  if (usesOldSelf && context.uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${context.uncorrelatable}`;
    yield fault('FieldValueInvalid', `${at}.rule`, rule.rule, detail);
  }
  if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    yield fault('FieldValueInvalid', `${at}.optionalOldSelf`, rule.optionalOldSelf, detail);
  }
}

/** Shows a rule as Kubernetes prints its Go struct, without the values of pointers. */
function wrongRule(field: string, rule: Rule, detail: string): Cause {
  const { rule: text, message = '', messageExpression = '', reason, fieldPath = '', optionalOldSelf } = rule;
  const pointer = (type: string, value: unknown) => `(*${type})(${value === undefined ? 'nil' : '0xc000000000'})`;
  const members = [
    `Rule:${quote(text)}`,
    `Message:${quote(message)}`,
    `MessageExpression:${quote(messageExpression)}`,
    `Reason:${pointer('apiextensions.FieldValueErrorReason', reason)}`,
    `FieldPath:${quote(fieldPath)}`,
    `OptionalOldSelf:${pointer('bool', optionalOldSelf)}`,
  ];
  const shown = `apiextensions.ValidationRule{${members.join(', ')}}`;
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${detail}`, field };
}

/** Returns the maximum number of occurrences of a part, given that of the whole. */
function partCardinality(schema: JsonSchema, whole: number | undefined): number | undefined {
  const isMap = schema.type === 'object' && schema.additionalProperties !== undefined;
  const limit = isMap ? schema.maxProperties : schema.type === 'array' ? schema.maxItems : 1;
  return whole === undefined || limit === undefined ? undefined : saturated(whole * Math.max(0, limit));
}

function saturated(cost: number): number {
  return Math.min(cost, 2 ** 64);
}

class TotalCost {
  #total = 0;
  #dearest: { readonly path: string; readonly cost: number }[] = [];

  add(path: string, cost: number): void {
    this.#total = saturated(this.#total + cost);
    // Rules with a negligible cost are not listed.
    if (cost < schemaCostLimit / 100) return;
    this.#dearest = [...this.#dearest, { path, cost }].sort((a, b) => b.cost - a.cost).slice(0, 4);
  }

  *causes(path: string): Generator<Cause> {
    if (this.#total <= schemaCostLimit) return;
    for (const { path: at } of this.#dearest) {
      yield forbidden(at, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema');
    }
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    yield forbidden(path, costMessage(name, this.#total, schemaCostLimit));
  }
}

function costMessage(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const times = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${times} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
