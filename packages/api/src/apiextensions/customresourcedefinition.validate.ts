/**
 * Validation of CustomResourceDefinitions. Kubernetes validates an internal form: fields that are equal in all versions
 * (a schema, subresources, columns, selectable fields) move to the spec, and errors have the paths of that form. This
 * file does the same.
 */
import { type Cause, duplicate, invalid, notSupported, required, tooMany } from '@kruise/schema/field-error';
import type { JsonSchema } from '@kruise/schema/structural';
import { followFieldPath } from '@kruise/schema/structural/field-path';
import { validateSchema } from '@kruise/schema/structural/schema-rules';
import { validateDns1035Label, validateDns1123Subdomain } from '@kruise/values/names';
import { embeddedMetadata } from '../meta/embedded-metadata.ts';
import { invalidBare, invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable } from '../meta/value.validate.ts';
import { approvalAnnotation, approvalOf, isProtectedGroup } from './api-approval.ts';
import { validateConversion } from './conversion.validate.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from './customresourcedefinition.ts';
import { isEstablished } from './established.ts';

export function* validateCustomResourceDefinition(sent: CustomResourceDefinition): Generator<Cause> {
  const object = withVersions(sent);
  yield* validateObjectMeta(object.metadata, { namespaced: false, name: nameRule(object) });
  yield* validateSpec(object.spec, undefined);
  yield* validateStatus(object);
  yield* validateApproval(object, undefined);
  yield* validatePreservation(object.spec);
}

export function* validateCustomResourceDefinitionUpdate(
  sent: CustomResourceDefinition,
  old: CustomResourceDefinition,
): Generator<Cause> {
  const object = withVersions(sent);
  yield* validateObjectMetaUpdate(object.metadata, old.metadata);
  yield* validateSpec(object.spec, old);
  yield* validateImmutable(object.spec, old);
  yield* validateStatus(object);
  yield* validateApproval(object, old);
  yield* validatePreservation(object.spec);
}

export function* validateCustomResourceDefinitionStatus(
  object: CustomResourceDefinition,
  old: CustomResourceDefinition,
): Generator<Cause> {
  yield* validateObjectMetaUpdate(object.metadata, old.metadata);
  yield* validateNames(object.status?.acceptedNames, 'status.acceptedNames');
}

/** Treats missing versions as an empty list. */
function withVersions(object: CustomResourceDefinition): CustomResourceDefinition {
  return { ...object, spec: { ...object.spec, versions: object.spec.versions ?? [] } };
}

function nameRule({ spec }: CustomResourceDefinition) {
  const wanted = `${spec.names.plural}.${spec.group}`;
  const other = (name: string) => (name === wanted ? [] : ['must be spec.names.plural+"."+spec.group']);
  return {
    whole: (name: string) => [...validateDns1123Subdomain(name), ...other(name)],
    prefix: (prefix: string) => [...subdomainName.prefix(prefix), ...other(prefix)],
  };
}

/** A spec with the fields that its versions have in common. */
type Hoisted = {
  readonly versions: readonly CustomResourceDefinitionVersion[];
  /** The common fields; absent where versions differ. */
  readonly schema?: CustomResourceDefinitionVersion['schema'];
  readonly subresources?: CustomResourceSubresources | undefined;
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[] | undefined;
  readonly selectableFields?: readonly SelectableField[] | undefined;
};

const hoistable = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

function hoist({ versions }: CustomResourceDefinitionSpec): Hoisted {
  const [first, ...others] = versions;
  if (!first) return { versions };
  const common = hoistable.filter((field) => others.every((version) => isSame(version[field], first[field])));
  const hoisted = Object.fromEntries(common.map((field) => [field, first[field]]));
  return {
    versions: versions.map((version) => {
      const own: { [field: string]: unknown } = { ...version };
      for (const field of common) delete own[field];
      return own as CustomResourceDefinitionVersion;
    }),
    ...hoisted,
  };
}

function* validateSpec(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinition | undefined,
): Generator<Cause> {
  yield* validateGroup(spec.group);
  const scopes = ['Cluster', 'Namespaced'];
  if (spec.scope === '') yield required('spec.scope');
  else if (!scopes.includes(spec.scope)) yield notSupported('spec.scope', spec.scope, scopes);
  for (const [index, { schema }] of spec.versions.entries()) {
    if (schema?.openAPIV3Schema === undefined) {
      yield required(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required');
    }
  }
  if (spec.preserveUnknownFields && spec.versions.some(({ schema }) => hasDefaults(schema?.openAPIV3Schema))) {
    yield invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema');
  }

  const { versions, ...common } = hoist(spec);
  const rules = schemaRules(spec, old);
  const isStatusOf = (version: CustomResourceDefinitionVersion) =>
    ('subresources' in common ? common.subresources : version.subresources)?.status !== undefined;
  for (const [index, version] of versions.entries()) {
    const at = `spec.versions[${index}]`;
    yield* labelFaults(`${at}.name`, version.name, version.name);
    yield* validateDeprecation(version, at);
    yield* rules(version.schema?.openAPIV3Schema, `${at}.schema`, isStatusOf(version), version.name);
    yield* validateParts(version, version.schema?.openAPIV3Schema, at);
  }
  const names = versions.map(({ name }) => name);
  const wrongVersions = (detail: string) =>
    versions.length === 0
      ? invalidBare('spec.versions', '[]apiextensions.CustomResourceDefinitionVersion(nil)', detail)
      : invalidStructure('spec.versions', 'apiextensions.CustomResourceDefinitionVersion', versions, detail);
  if (new Set(names).size < names.length) yield wrongVersions('must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1) {
    yield wrongVersions('must have exactly one version marked as storage version');
  }
  if (names[0]) yield* labelFaults('spec.version', names[0], names[0]);

  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!spec.names[name]) yield required(`spec.names.${name}`);
  }
  yield* validateNames(spec.names, 'spec.names');
  const schema = common.schema?.openAPIV3Schema;
  yield* rules(schema, 'spec.validation', spec.versions.some(isStatusOf), names[0] ?? '');
  yield* validateParts(common, schema, 'spec');
  if (spec.preserveUnknownFields && spec.conversion && spec.conversion.strategy !== 'None') {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    yield invalid('spec.conversion.strategy', spec.conversion.strategy, detail);
  }
  yield* validateConversion(spec.conversion, old);
}

function* validateGroup(group: string): Generator<Cause> {
  if (group === '') {
    yield required('spec.group');
    return;
  }
  const faults = validateDns1123Subdomain(group);
  if (faults.length > 0) yield invalid('spec.group', group, faults.join(','));
  else if (!group.includes('.')) yield invalid('spec.group', group, 'should be a domain with at least one dot');
}

function hasDefaults(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if (Object.hasOwn(schema, 'default')) return true;
  return Object.values(schema).some(hasDefaults);
}

/** Returns the rules for the schemas of versions. Stored rules may use features that new ones may not. */
function schemaRules(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinition | undefined) {
  let known: ReadonlySet<string> | undefined;
  const isKnown = (text: string) => {
    known ??= new Set(expressionsOf(old?.spec.versions));
    return known.has(text);
  };
  const schemaIn = (from: CustomResourceDefinitionSpec | undefined, name: string) =>
    from?.versions.find((version) => version.name === name)?.schema?.openAPIV3Schema;
  return (schema: unknown, path: string, hasStatus: boolean, version: string): readonly Cause[] => {
    if (schema === undefined) return [];
    const before = schemaIn(old?.spec, version);
    return validateSchema(schema as JsonSchema, path, {
      metadata: embeddedMetadata,
      hasStatus,
      expressions: (text) => (isKnown(text) ? 'stored' : 'new'),
      isUnchanged: before !== undefined && isSame(schemaIn(spec, version), before),
    });
  };
}

function* expressionsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === 'x-kubernetes-validations' && Array.isArray(member)) {
      for (const { rule, messageExpression } of member) yield* [rule, messageExpression ?? ''];
    } else yield* expressionsOf(member);
  }
}

const unprintable = /[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/u;

function* validateDeprecation(
  { deprecated, deprecationWarning: text }: CustomResourceDefinitionVersion,
  path: string,
): Generator<Cause> {
  if (text === undefined) return;
  const wrong = (detail: string) => invalid(`${path}.deprecationWarning`, text, detail);
  if (!deprecated) {
    yield wrong('can only be set for deprecated versions');
    return;
  }
  if (Buffer.byteLength(text) > 256) yield wrong('must be <= 256 characters long');
  if (text === '') yield wrong('must not be an empty string');
  const found = unprintable.exec(text);
  if (found) {
    const index = Buffer.byteLength(text.slice(0, found.index));
    yield wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
  }
}

type Parts = Pick<Hoisted, 'subresources' | 'additionalPrinterColumns' | 'selectableFields'>;

/** Validates fields that are common to all versions, or those of each version. */
function* validateParts(parts: Parts, schema: unknown, path: string): Generator<Cause> {
  if (parts.subresources) yield* validateSubresources(parts.subresources, `${path}.subresources`);
  for (const [index, column] of (parts.additionalPrinterColumns ?? []).entries()) {
    yield* validateColumn(column, `${path}.additionalPrinterColumns[${index}]`);
  }
  const { selectableFields = [] } = parts;
  if (selectableFields.length === 0) return;
  const at = `${path}.selectableFields`;
  if (schema !== undefined) yield* validateSelectableFields(selectableFields, schema as JsonSchema, at);
  else {
    const detail =
      path === 'spec'
        ? 'selectableFields may only be set when validations.schema is included'
        : 'selectableFields may only be set when version.schema.openAPIV3Schema is not included';
    yield invalid(at, '', detail);
  }
}

function* validateSubresources({ scale }: CustomResourceSubresources, path: string): Generator<Cause> {
  if (!scale) return;
  const places = [
    { name: 'specReplicasPath', below: ['.spec.'], detail: 'should be a json path under .spec' },
    { name: 'statusReplicasPath', below: ['.status.'], detail: 'should be a json path under .status' },
    {
      name: 'labelSelectorPath',
      below: ['.spec.', '.status.'],
      detail: 'should be a json path under either .spec or .status',
    },
  ] as const;
  for (const { name, below, detail } of places) {
    const value = scale[name];
    const at = `${path}.scale.${name}`;
    if (!value) {
      if (name !== 'labelSelectorPath') yield required(at);
    } else if (!value.startsWith('.')) yield invalid(at, value, simplePath);
    else if (!below.some((prefix) => value.startsWith(prefix))) yield invalid(at, value, detail);
  }
}

const simplePath = 'must be a simple json path starting with .';
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function* validateColumn(column: CustomResourceColumnDefinition, path: string): Generator<Cause> {
  const { name, type, format, jsonPath } = column;
  const known = `must be one of ${columnTypes.join(',')}`;
  if (!name) yield required(`${path}.name`);
  if (!type) yield required(`${path}.type`, known);
  else if (!columnTypes.includes(type)) yield invalid(`${path}.type`, type, known);
  if (format && !columnFormats.includes(format)) {
    yield invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`);
  }
  if (!jsonPath) yield required(`${path}.JSONPath`);
  else if (!jsonPath.startsWith('.')) yield invalid(`${path}.JSONPath`, jsonPath, simplePath);
}

const maxSelectableFields = 8;

function* validateSelectableFields(
  fields: readonly SelectableField[],
  schema: JsonSchema,
  path: string,
): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const at = `${path}[${index}].jsonPath`;
    if (!jsonPath) {
      yield required(at);
      continue;
    }
    const found = followFieldPath(jsonPath, schema, { brackets: false });
    if ('error' in found) {
      yield invalid(at, jsonPath, `is an invalid path: ${found.error}`);
      continue;
    }
    if (/^metadata(?:\.|$)/.test(found.path)) yield invalid(at, jsonPath, 'must not point to fields in metadata');
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? '')) {
      yield invalid(
        at,
        jsonPath,
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      );
    }
    if (seen.has(found.path)) yield duplicate(at, jsonPath);
    seen.add(found.path);
  }
  if (seen.size > maxSelectableFields) yield tooMany(path, seen.size, maxSelectableFields);
}

function* validateNames(names: Partial<CustomResourceDefinitionNames> | undefined, path: string): Generator<Cause> {
  if (!names) return;
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names;
  for (const [name, value] of Object.entries({ plural, singular })) {
    if (value) yield* labelFaults(`${path}.${name}`, value, value);
  }
  for (const [name, value] of Object.entries({ kind, listKind })) {
    const prefix = 'may have mixed case, but should otherwise match: ';
    if (value) yield* labelFaults(`${path}.${name}`, value, value.toLowerCase(), prefix);
  }
  for (const [index, name] of shortNames.entries()) yield* labelFaults(`${path}.shortNames[${index}]`, name, name);
  if (kind && kind === listKind) yield invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same');
  for (const [index, name] of categories.entries()) yield* labelFaults(`${path}.categories[${index}]`, name, name);
}

function* labelFaults(field: string, value: string, label: string, prefix = ''): Generator<Cause> {
  const faults = validateDns1035Label(label);
  if (faults.length > 0) yield invalid(field, value, prefix + faults.join(','));
}

function* validateImmutable(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinition): Generator<Cause> {
  const before = old.spec;
  if (isEstablished(old)) {
    if (spec.scope !== before.scope) yield invalid('spec.scope', spec.scope, isImmutable);
    if (spec.names.kind !== before.names.kind) yield invalid('spec.names.kind', spec.names.kind, isImmutable);
  }
  if (spec.group !== before.group) yield invalid('spec.group', spec.group, isImmutable);
  if (spec.names.plural !== before.names.plural) yield invalid('spec.names.plural', spec.names.plural, isImmutable);
}

function* validateStatus({ spec, status }: CustomResourceDefinition): Generator<Cause> {
  yield* validateNames(status?.acceptedNames, 'status.acceptedNames');
  const stored = status?.storedVersions ?? [];
  const at = 'status.storedVersions';
  if (stored.length === 0) {
    yield {
      reason: 'FieldValueInvalid',
      field: at,
      message: 'Invalid value: []string(nil): must have at least one stored version',
    };
    return;
  }
  for (const { name, storage } of spec.versions) {
    if (storage && !stored.includes(name)) yield invalid(at, stored, `must have the storage version ${name}`);
  }
  for (const [index, name] of stored.entries()) {
    if (spec.versions.some((version) => version.name === name)) continue;
    yield invalid(
      `${at}[${index}]`,
      name,
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
    );
  }
}

function* validateApproval(
  { metadata, spec }: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): Generator<Cause> {
  if (!isProtectedGroup(spec.group)) return;
  const { state, reason } = approvalOf(metadata.annotations);
  if (old && approvalOf(old.metadata.annotations).state === state) return;
  const at = `metadata.annotations[${approvalAnnotation}]`;
  if (state === 'missing') yield required(at, reason);
  else if (state === 'invalid') yield invalid(at, metadata.annotations?.[approvalAnnotation], reason);
}

function* validatePreservation({ preserveUnknownFields }: CustomResourceDefinitionSpec): Generator<Cause> {
  if (!preserveUnknownFields) return;
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  yield invalid('spec.preserveUnknownFields', true, detail);
}
