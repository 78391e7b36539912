/**
 * Validates CustomResourceDefinitions. Kubernetes holds what all versions have in common as the definition's own, and
 * says so in its paths: with one version, or versions alike, a fault of the schema is at `spec.validation`.
 */
import { validateDns1035Label, validateDns1123Subdomain, validatePortNumber } from '@kruise/values/names';
import { type Cause, forbidden, notSupported, required, tooMany } from './field-error.ts';
import type { MetadataRules } from './structural/embedded.ts';
import { followFieldPath } from './structural/field-path.ts';
import { formatCheck } from './structural/formats.ts';
import { isSame, type JsonSchema } from './structural/json-schema.ts';
import { fault, shown } from './structural/report.ts';
import { type SchemaRulesOptions, validateSchema } from './structural/schema-rules.ts';

/** A definition as a client sends it, decoded and defaulted; any of it may be wrong. */
export type DefinitionObject = {
  readonly metadata?: { readonly name?: string; readonly annotations?: { readonly [name: string]: string } };
  readonly spec: DefinitionSpec;
  readonly status?: {
    readonly storedVersions?: readonly string[] | null;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null;
    readonly acceptedNames?: DefinitionNames;
  };
};

/** What a definition asks for. */
export type DefinitionSpec = {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: DefinitionNames;
  readonly versions?: readonly VersionObject[] | null;
  readonly conversion?: ConversionObject | undefined;
  readonly preserveUnknownFields?: boolean;
};

/** What a kind and its resource are called. */
export type DefinitionNames = {
  readonly plural?: string;
  readonly singular?: string;
  readonly kind?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
};

/** One version of a definition, as it was sent. */
export type VersionObject = {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: SubresourcesObject;
  readonly additionalPrinterColumns?: readonly ColumnObject[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
};

type SubresourcesObject = {
  readonly status?: object;
  readonly scale?: {
    readonly specReplicasPath?: string;
    readonly statusReplicasPath?: string;
    readonly labelSelectorPath?: string;
  };
};
type ColumnObject = {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly jsonPath?: string;
};
type ConversionObject = {
  readonly strategy?: string;
  readonly webhook?: {
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly name?: string;
        readonly namespace?: string;
        readonly path?: string;
        readonly port?: number;
      };
    };
    readonly conversionReviewVersions?: readonly string[] | null;
  };
};

/** Rules that those who define metadata hand in. */
export type DefinitionRules = { readonly metadata: MetadataRules };

/** Every fault of a definition that is to be created, but those of its metadata that every kind shares. */
export function validateDefinition(definition: DefinitionObject, rules: DefinitionRules): Cause[] {
  const { spec, metadata = {}, status = {} } = definition;
  return [
    ...validateName(metadata.name ?? '', spec),
    ...validateSpec(spec, { ...rules, expressions: () => 'new', isUnchanged: () => false }),
    ...validateNames(status.acceptedNames ?? {}, 'status.acceptedNames'),
    ...validateStoredVersions(status.storedVersions ?? [], spec.versions ?? []),
    ...validateApproval(definition, undefined),
    ...validatePreservation(spec, undefined),
  ];
}

/** Every fault of a definition that is to replace `old`. */
export function validateDefinitionUpdate(
  definition: DefinitionObject,
  old: DefinitionObject,
  rules: DefinitionRules,
): Cause[] {
  const { spec, status = {} } = definition;
  const stored = expressionsOf(old.spec);
  const isUnchanged = ({ name, schema }: VersionObject) =>
    (old.spec.versions ?? []).some((each) => each.name === name && isSame(each.schema, schema));
  return [
    ...validateSpec(spec, { ...rules, expressions: (text) => (stored.has(text) ? 'stored' : 'new'), isUnchanged }),
    ...validateImmutable(spec, old),
    ...validateNames(status.acceptedNames ?? {}, 'status.acceptedNames'),
    ...validateStoredVersions(status.storedVersions ?? [], spec.versions ?? []),
    ...validateApproval(definition, old),
    ...validatePreservation(spec, old.spec),
  ];
}

function* validateName(name: string, { names = {}, group = '' }: DefinitionSpec): Generator<Cause> {
  if (name === `${names.plural ?? ''}.${group}`) return;
  yield fault('FieldValueInvalid', 'metadata.name', name, 'must be spec.names.plural+"."+spec.group');
}

type SpecRules = Pick<SchemaRulesOptions, 'metadata' | 'expressions'> & {
  readonly isUnchanged: (version: VersionObject) => boolean;
};

function* validateSpec(spec: DefinitionSpec, rules: SpecRules): Generator<Cause> {
  const { group = '', scope = '', names = {} } = spec;
  const versions = spec.versions ?? [];
  if (group === '') yield required('spec.group');
  else {
    const faults = validateDns1123Subdomain(group);
    if (faults.length > 0) yield fault('FieldValueInvalid', 'spec.group', group, faults.join());
    else if (!group.includes('.')) {
      yield fault('FieldValueInvalid', 'spec.group', group, 'should be a domain with at least one dot');
    }
  }
  yield* validateChoice('spec.scope', scope, ['Cluster', 'Namespaced']);
  yield* validateVersions(versions, rules);
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[name]) yield required(`spec.names.${name}`);
  }
  yield* validateNames(names, 'spec.names');
  yield* validateConversion(spec.conversion);
}

function* validateChoice(field: string, value: string, choices: readonly string[]): Generator<Cause> {
  if (value === '') yield required(field);
  else if (!choices.includes(value)) yield notSupported(field, value, choices);
}

function* validateVersions(versions: readonly VersionObject[], rules: SpecRules): Generator<Cause> {
  const invalid = (detail: string) => fault('FieldValueInvalid', 'spec.versions', versions, detail);
  const isAlike = (member: keyof VersionObject) =>
    versions.every((each) => isSame(each[member], versions[0]?.[member]));
  const alike = {
    schema: isAlike('schema'),
    subresources: isAlike('subresources'),
    columns: isAlike('additionalPrinterColumns'),
    selectable: isAlike('selectableFields'),
  };
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}]`;
    const faults = validateDns1035Label(version.name);
    if (faults.length > 0) yield fault('FieldValueInvalid', `${path}.name`, version.name, faults.join());
    yield* validateDeprecation(version, `${path}.deprecationWarning`);
    if (!version.schema?.openAPIV3Schema) yield required(`${path}.schema.openAPIV3Schema`, 'schemas are required');
    // What is alike is looked at once, as the definition's own.
    if (index === 0 || !alike.schema)
      yield* validateVersionSchema(version, alike.schema ? 'spec.validation' : `${path}.schema`, rules);
    if (index === 0 || !alike.subresources) {
      yield* validateScale(version.subresources?.scale, `${alike.subresources ? 'spec' : path}.subresources.scale`);
    }
    if (index === 0 || !alike.columns) {
      yield* validateColumns(version, `${alike.columns ? 'spec' : path}.additionalPrinterColumns`);
    }
    if (index === 0 || !alike.selectable) {
      yield* validateSelectableFields(version, `${alike.selectable ? 'spec' : path}.selectableFields`);
    }
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    yield invalid('must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1) {
    yield invalid('must have exactly one version marked as storage version');
  }
  const [first] = versions;
  const faults = first?.name ? validateDns1035Label(first.name) : [];
  if (faults.length > 0) yield fault('FieldValueInvalid', 'spec.version', first!.name, faults.join());
}

function validateVersionSchema(version: VersionObject, path: string, rules: SpecRules): Cause[] {
  const schema = version.schema?.openAPIV3Schema;
  if (!schema) return [];
  const hasStatus = version.subresources?.status !== undefined;
  return validateSchema(schema, path, { ...rules, hasStatus, isUnchanged: rules.isUnchanged(version) });
}

function* validateDeprecation(
  { deprecated, deprecationWarning: warning }: VersionObject,
  path: string,
): Generator<Cause> {
  if (warning === undefined) return;
  const invalid = (detail: string) => fault('FieldValueInvalid', path, warning, detail);
  if (!deprecated) return yield invalid('can only be set for deprecated versions');
  if (Buffer.byteLength(warning) > 256) yield invalid('must be <= 256 characters long');
  if (warning === '') yield invalid('must not be an empty string');
  const odd = /[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/u.exec(warning);
  if (!odd) return;
  const at = Buffer.byteLength(warning.slice(0, odd.index));
  yield invalid(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
}

function* validateNames(names: DefinitionNames, path: string): Generator<Cause> {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  const check = (field: string, value: string): Cause[] => {
    const faults = value === '' ? [] : validateDns1035Label(value);
    return faults.length > 0 ? [fault('FieldValueInvalid', `${path}.${field}`, value, faults.join())] : [];
  };
  const checkKind = (field: string, value: string): Cause[] => {
    const faults = value === '' ? [] : validateDns1035Label(value.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${faults.join()}`;
    return faults.length > 0 ? [fault('FieldValueInvalid', `${path}.${field}`, value, detail)] : [];
  };
  const checkEach = (field: string, values: readonly string[]): Cause[] =>
    values.flatMap((value, index) => {
      const faults = validateDns1035Label(value);
      return faults.length > 0 ? [fault('FieldValueInvalid', `${path}.${field}[${index}]`, value, faults.join())] : [];
    });
  yield* check('plural', plural);
  yield* check('singular', singular);
  yield* checkKind('kind', kind);
  yield* checkKind('listKind', listKind);
  yield* checkEach('shortNames', shortNames);
  if (kind !== '' && kind === listKind) {
    yield fault('FieldValueInvalid', `${path}.listKind`, listKind, 'kind and listKind may not be the same');
  }
  yield* checkEach('categories', categories);
}

function* validateScale(scale: SubresourcesObject['scale'], path: string): Generator<Cause> {
  if (!scale) return;
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale;
  if (specReplicasPath === '') yield required(`${path}.specReplicasPath`);
  else yield* validatePathUnder(specReplicasPath, `${path}.specReplicasPath`, ['.spec'], '.spec');
  if (statusReplicasPath === '') yield required(`${path}.statusReplicasPath`);
  else yield* validatePathUnder(statusReplicasPath, `${path}.statusReplicasPath`, ['.status'], '.status');
  if (labelSelectorPath === '') return;
  yield* validatePathUnder(
    labelSelectorPath,
    `${path}.labelSelectorPath`,
    ['.spec', '.status'],
    'either .spec or .status',
  );
}

function* validatePathUnder(value: string, field: string, roots: readonly string[], where: string): Generator<Cause> {
  if (!value.startsWith('.')) yield notSimple(field, value);
  else if (!roots.some((root) => value.startsWith(`${root}.`))) {
    yield fault('FieldValueInvalid', field, value, `should be a json path under ${where}`);
  }
}

function notSimple(field: string, value: string): Cause {
  return fault('FieldValueInvalid', field, value, 'must be a simple json path starting with .');
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function* validateColumns({ additionalPrinterColumns = [] }: VersionObject, path: string): Generator<Cause> {
  for (const [index, { name = '', type = '', format = '', jsonPath = '' }] of additionalPrinterColumns.entries()) {
    const at = `${path}[${index}]`;
    if (name === '') yield required(`${at}.name`);
    const oneType = `must be one of ${columnTypes.join()}`;
    if (type === '') yield required(`${at}.type`, oneType);
    else if (!columnTypes.includes(type)) yield fault('FieldValueInvalid', `${at}.type`, type, oneType);
    if (format !== '' && !columnFormats.includes(format)) {
      yield fault('FieldValueInvalid', `${at}.format`, format, `must be one of ${columnFormats.join()}`);
    }
    if (jsonPath === '') yield required(`${at}.JSONPath`);
    else if (!jsonPath.startsWith('.')) yield notSimple(`${at}.JSONPath`, jsonPath);
  }
}

const maxSelectableFields = 8;

function* validateSelectableFields(version: VersionObject, path: string): Generator<Cause> {
  const { selectableFields = [], schema } = version;
  if (selectableFields.length === 0) return;
  const root = schema?.openAPIV3Schema;
  if (!root) {
    yield fault('FieldValueInvalid', path, '', 'selectableFields may only be set when validations.schema is included');
    return;
  }
  const seen = new Set<string>();
  for (const [index, { jsonPath = '' }] of selectableFields.entries()) {
    const field = `${path}[${index}].jsonPath`;
    const invalid = (detail: string) => fault('FieldValueInvalid', field, jsonPath, detail);
    if (jsonPath === '') {
      yield required(field);
      continue;
    }
    const found = followFieldPath(jsonPath, root, { brackets: false });
    if ('error' in found) {
      yield invalid(`is an invalid path: ${found.error}`);
      continue;
    }
    if (found.path === 'metadata' || found.path.startsWith('metadata.'))
      yield invalid('must not point to fields in metadata');
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? '')) {
      yield invalid(
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      );
    }
    if (seen.has(found.path)) {
      yield { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${shown(jsonPath)}` };
    }
    seen.add(found.path);
  }
  if (seen.size > maxSelectableFields) yield tooMany(path, seen.size, maxSelectableFields);
}

function* validateConversion(conversion: ConversionObject | undefined): Generator<Cause> {
  if (!conversion) return;
  const { strategy = '', webhook } = conversion;
  const reviewVersions = webhook?.conversionReviewVersions ?? [];
  yield* validateChoice('spec.conversion.strategy', strategy, ['None', 'Webhook']);
  const [config, versions] = ['spec.conversion.webhookClientConfig', 'spec.conversion.conversionReviewVersions'];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) yield forbidden(config, detail);
    if (reviewVersions.length > 0) yield forbidden(versions, detail);
    return;
  }
  yield* validateClient(webhook?.clientConfig, config);
  if (reviewVersions.length === 0) yield required(versions);
  else yield* validateReviewVersions(reviewVersions, versions);
}

type ClientConfig = NonNullable<NonNullable<ConversionObject['webhook']>['clientConfig']>;

function* validateClient(client: ClientConfig | undefined, path: string): Generator<Cause> {
  if (!client) yield required(path, 'required when strategy is set to Webhook');
  else if ((client.url === undefined) === (client.service === undefined)) {
    yield required(path, 'exactly one of url or service is required');
  } else if (client.url !== undefined) yield* validateUrl(client.url, `${path}.url`);
  else yield* validateService(client.service!, `${path}.service`);
}

function* validateUrl(text: string, path: string): Generator<Cause> {
  const form = '; desired format: https://host[/path]';
  const url = URL.parse(text);
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? '';
  if (scheme.toLowerCase() !== 'https') {
    yield fault('FieldValueInvalid', path, scheme, `'https' is the only allowed URL scheme${form}`);
  }
  if (!url?.host) yield fault('FieldValueInvalid', path, '', `host must be specified${form}`);
  if (!url) return;
  const user = url.password === '' ? url.username : `${url.username}:${url.password}`;
  if (user !== '') yield fault('FieldValueInvalid', path, user, 'user information is not permitted in the URL');
  if (url.hash.length > 1)
    yield fault('FieldValueInvalid', path, url.hash.slice(1), 'fragments are not permitted in the URL');
  if (url.search.length > 1) {
    yield fault('FieldValueInvalid', path, url.search.slice(1), 'query parameters are not permitted in the URL');
  }
}

function* validateService(service: NonNullable<ClientConfig['service']>, path: string): Generator<Cause> {
  if (!service.name) yield required(`${path}.name`, 'service name is required');
  if (!service.namespace) yield required(`${path}.namespace`, 'service namespace is required');
  const { port = 443, path: servicePath = '' } = service;
  const faults = validatePortNumber(port);
  if (faults.length > 0)
    yield fault('FieldValueInvalid', `${path}.port`, port, `port is not valid: ${faults.join(', ')}`);
  if (servicePath === '' || servicePath === '/') return;
  const invalid = (detail: string) => fault('FieldValueInvalid', `${path}.path`, servicePath, detail);
  if (servicePath === '//') return yield invalid('segment[0] may not be empty');
  if (!servicePath.startsWith('/')) yield invalid("must start with a '/'");
  for (const [index, segment] of servicePath.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (segment === '') yield invalid(`segment[${index}] may not be empty`);
    else yield* validateDns1123Subdomain(segment).map((detail) => invalid(`segment[${index}]: ${detail}`));
  }
}

const knownReviewVersions = ['v1', 'v1beta1'];

function* validateReviewVersions(versions: readonly string[], path: string): Generator<Cause> {
  for (const [index, version] of versions.entries()) {
    const invalid = (detail: string) => fault('FieldValueInvalid', `${path}[${index}]`, version, detail);
    if (versions.indexOf(version) < index) yield invalid('duplicate version');
    else yield* validateDns1035Label(version).map(invalid);
  }
  if (versions.some((version) => knownReviewVersions.includes(version))) return;
  const detail = `must include at least one of ${knownReviewVersions.join(', ')}`;
  yield { ...required(path), reason: 'FieldValueInvalid', message: `Invalid value: ${strings(versions)}: ${detail}` };
}

function* validateImmutable(spec: DefinitionSpec, old: DefinitionObject): Generator<Cause> {
  const isEstablished = old.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  const changed = (field: string, value: unknown, before: unknown): Cause[] =>
    value === before ? [] : [fault('FieldValueInvalid', field, value, 'field is immutable')];
  if (isEstablished) {
    yield* changed('spec.scope', spec.scope, old.spec.scope);
    yield* changed('spec.names.kind', spec.names?.kind, old.spec.names?.kind);
  }
  yield* changed('spec.group', spec.group, old.spec.group);
  yield* changed('spec.names.plural', spec.names?.plural, old.spec.names?.plural);
}

function* validateStoredVersions(stored: readonly string[], versions: readonly VersionObject[]): Generator<Cause> {
  const path = 'status.storedVersions';
  const invalid = (detail: string): Cause => ({
    reason: 'FieldValueInvalid',
    field: path,
    message: `Invalid value: ${strings(stored)}: ${detail}`,
  });
  if (stored.length === 0) return yield invalid('must have at least one stored version');
  for (const { name, storage } of versions) {
    if (storage && !stored.includes(name)) yield invalid(`must have the storage version ${name}`);
  }
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    yield fault('FieldValueInvalid', `${path}[${index}]`, name, detail);
  }
}

/** A list of texts as Go prints it; one that was never given is nil. */
function strings(values: readonly string[]): string {
  return values.length === 0 ? '[]string(nil)' : `[]string{${values.map((value) => shown(value)).join(', ')}}`;
}

const approvalAnnotation = 'api-approved.kubernetes.io';

/** Groups of the community are for APIs it has approved. */
function* validateApproval(definition: DefinitionObject, old: DefinitionObject | undefined): Generator<Cause> {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(definition.spec.group ?? '')) return;
  const state = approvalState(definition);
  if (old && approvalState(old) === state) return;
  const field = `metadata.annotations[${approvalAnnotation}]`;
  const must = `protected groups must have approval annotation "${approvalAnnotation}"`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (state === 'missing') yield required(field, `${must}, ${see}`);
  if (state !== 'invalid') return;
  const detail = `${must} with either a URL or a reason starting with "unapproved", ${see}`;
  yield fault('FieldValueInvalid', field, definition.metadata?.annotations?.[approvalAnnotation], detail);
}

function approvalState({ metadata }: DefinitionObject): 'missing' | 'bypassed' | 'approved' | 'invalid' {
  const value = metadata?.annotations?.[approvalAnnotation] ?? '';
  if (value === '') return 'missing';
  if (value.startsWith('unapproved')) return 'bypassed';
  return formatCheck('uri')!(value) && /^[^:/?#]+:\/\/[^/?#]/.test(value) ? 'approved' : 'invalid';
}

function* validatePreservation(spec: DefinitionSpec, old: DefinitionSpec | undefined): Generator<Cause> {
  if (old?.preserveUnknownFields || !spec.preserveUnknownFields) return;
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  yield fault('FieldValueInvalid', 'spec.preserveUnknownFields', true, detail);
}

/** The expressions a definition has already: they may use what new ones may not. */
function expressionsOf({ versions }: DefinitionSpec): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string') {
        if (name === 'rule' || name === 'messageExpression') found.add(member);
      } else visit(member);
    }
  };
  for (const { schema } of versions ?? []) visit(schema);
  return found;
}
