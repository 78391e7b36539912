/**
 * Schemas of kinds as OpenAPI publishes them. The two versions differ beside references: version 2 allows a description
 * there, version 3 requires the reference to be wrapped. Only version 3 has defaults.
 */
import {
  type AnyNode,
  type EitherNode,
  type Field,
  flatFields,
  type ListNode,
  type Node,
  type ObjectNode,
  resolve,
} from '../language.ts';
import { additionalOf, itemsOf, type JsonSchema } from '../structural/json-schema.ts';
import {
  type Content,
  definitionName,
  type GroupVersionKind,
  gvkOf,
  type PublishedResource,
  type Vocabulary,
} from './published.ts';

/** The two versions of OpenAPI. */
export type Dialect = 'v2' | 'v3';
/** A part of a document: immutable JSON. */
export type Json = { readonly [name: string]: unknown };

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

type WellKnown = { readonly name: string; readonly v2: Json; readonly v3: Json };

function wellKnown(name: string, description: string, schema: Json, v3: Json = schema): WellKnown {
  return { name, v2: { description, ...schema }, v3: { description, ...v3 } };
}

const time = wellKnown(`${meta}.Time`, 'A time to the second, as RFC 3339 writes it.', {
  type: 'string',
  format: 'date-time',
});
const microTime = wellKnown(`${meta}.MicroTime`, 'A time to the microsecond, as RFC 3339 writes it.', {
  type: 'string',
  format: 'date-time',
});
const duration = wellKnown(`${meta}.Duration`, 'A length of time, such as 1h30m.', { type: 'string' });
const quantity = wellKnown(
  'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'An amount, with or without a suffix: 500m is a half, 1Ki is 1024, 1M a million.',
  { type: 'string' },
  { oneOf: [{ type: 'string' }, { type: 'number' }] },
);
const intOrString = wellKnown(
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  'A number or a text: 80 or http, 3 or 25%.',
  { type: 'string', format: 'int-or-string' },
  { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
);
const anyForms: { readonly [form in Exclude<AnyNode['form'], 'preserved'>]: WellKnown } = {
  rawExtension: wellKnown('io.k8s.apimachinery.pkg.runtime.RawExtension', 'An object of any kind.', { type: 'object' }),
  fieldsV1: wellKnown(`${meta}.FieldsV1`, 'A set of fields, as a tree of their names.', { type: 'object' }),
  json: wellKnown('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', 'Any JSON value.', {}),
};
const patch = wellKnown(`${meta}.Patch`, 'A change to an object, in the format its content type names.', {
  type: 'object',
});

/**
 * Collects the definitions that a document references.
 *
 * ```ts
 * const definitions = new Definitions(dialect, [{ kind: pod, subresources: [] }], vocabulary);
 * ```
 */
export class Definitions {
  readonly #dialect: Dialect;
  readonly #vocabulary: Vocabulary;
  readonly #kinds: ReadonlyMap<string, readonly GroupVersionKind[]>;
  readonly #schemas = new Map<string, Json>();

  constructor(dialect: Dialect, resources: readonly PublishedResource[], vocabulary: Vocabulary) {
    this.#dialect = dialect;
    this.#vocabulary = vocabulary;
    this.#kinds = kindsByDefinition(resources, vocabulary);
  }

  /** Returns all definitions referenced so far, by name. */
  get schemas(): Json {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns a reference to the definition of a named object. */
  reference(node: ObjectNode): Json {
    return this.#define(node.name!, () => this.#definition(node));
  }

  /** Returns the schema of a request or response body. */
  content(content: Content): Json {
    switch (content.type) {
      case 'object':
        return this.object(content.resource);
      case 'list':
        return this.list(content.resource);
      case 'named':
        return this.reference(content.node);
      case 'patch':
        return this.#wellKnown(patch);
      case 'text':
        return { type: 'string' };
      default:
        return this.reference(this.#vocabulary[content.type]);
    }
  }

  /** Returns a reference to the definition of a resource's objects. */
  object(resource: PublishedResource): Json {
    const { kind, custom } = resource;
    if (custom === undefined) return this.reference(kind.root);
    const name = definitionName(resource);
    return this.#define(name, () => this.#customDefinition(custom, gvkOf(kind), resource.selectableFields ?? []));
  }

  /** Returns a reference to the definition of a resource's lists. */
  list(resource: PublishedResource): Json {
    const { kind, custom } = resource;
    if (custom === undefined) return this.reference(kind.list);
    return this.#define(`${definitionName(resource)}List`, () => ({
      description: `A list of ${kind.kind} objects.`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: apiVersionSchema,
        items: { description: `The ${kind.kind} objects.`, type: 'array', items: this.object(resource) },
        kind: kindSchema,
        metadata: this.#described(this.reference(this.#vocabulary.listMeta), listMetadataDoc),
      },
      'x-kubernetes-group-version-kind': [gvkOf({ ...kind, kind: kind.listKind })],
    }));
  }

  #define(name: string, make: () => Json): Json {
    if (!this.#schemas.has(name)) {
      // Registered before it is built, because a definition may refer to itself.
      this.#schemas.set(name, {});
      this.#schemas.set(name, make());
    }
    return { $ref: `${this.#dialect === 'v2' ? '#/definitions/' : '#/components/schemas/'}${name}` };
  }

  #wellKnown(known: WellKnown): Json {
    return this.#define(known.name, () => known[this.#dialect]);
  }

  #definition(node: ObjectNode): Json {
    const kinds = this.#kinds.get(node.name!);
    return {
      ...described(node.doc),
      ...this.#object(node),
      ...(kinds ? { 'x-kubernetes-group-version-kind': kinds } : {}),
    };
  }

  #object(node: ObjectNode): Json {
    const fields = [...flatFields(node)];
    const required = fields.filter(([, field]) => field.required).map(([name]) => name);
    return {
      type: 'object',
      ...(fields.length > 0
        ? { properties: Object.fromEntries(fields.map(([name, field]) => [name, this.#property(field)])) }
        : {}),
      ...(required.length > 0 ? { required } : {}),
      ...(node.mapType ? { 'x-kubernetes-map-type': node.mapType } : {}),
    };
  }

  #property(field: Field): Json {
    const node = resolve(field.node);
    const isAbsentEmpty = field.pointer || field.omitEmpty;
    const schema = this.#value(node, node.type === 'object' ? field.pointer : isAbsentEmpty);
    return {
      ...this.#described(schema, field.doc ?? node.doc),
      ...(field.patchMergeKey ? { 'x-kubernetes-patch-merge-key': field.patchMergeKey } : {}),
      ...(field.patchStrategy ? { 'x-kubernetes-patch-strategy': field.patchStrategy } : {}),
      ...(field.listType ? { 'x-kubernetes-list-type': field.listType } : {}),
      ...(field.mapType ? { 'x-kubernetes-map-type': field.mapType } : {}),
    };
  }

  /** Adds a description. In version 3, siblings of a reference are ignored unless the reference is wrapped. */
  #described(schema: Json, doc: string | undefined): Json {
    const { $ref, ...rest } = schema;
    if (!doc && Object.keys(rest).length === 0) return schema;
    if ($ref === undefined || this.#dialect === 'v2') return { ...described(doc), ...schema };
    return { ...described(doc), allOf: [{ $ref }], ...rest };
  }

  /** Returns the schema of a value; a value that cannot be absent has its empty value as default. */
  #value(node: ReturnType<typeof resolve>, canBeAbsent: boolean): Json {
    const constraints = this.#constraints(node);
    const empty = (value: unknown): Json => (canBeAbsent || this.#dialect === 'v2' ? {} : { default: value });
    switch (node.type) {
      case 'string':
        return {
          type: 'string',
          ...(node.knownValues ? { enum: node.knownValues } : {}),
          ...empty(''),
          ...constraints,
        };
      case 'boolean':
        return { type: 'boolean', ...empty(false), ...constraints };
      case 'integer':
      case 'number':
        return { type: node.type, ...(node.format ? { format: node.format } : {}), ...empty(0), ...constraints };
      case 'bytes':
        return { type: 'string', format: 'byte', ...constraints };
      case 'time':
        return this.#wellKnown(time);
      case 'microTime':
        return this.#wellKnown(microTime);
      case 'duration':
        return this.#wellKnown(duration);
      case 'quantity':
        return this.#wellKnown(quantity);
      case 'intOrString':
        return this.#wellKnown(intOrString);
      case 'any':
        return node.form === 'preserved'
          ? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
          : this.#wellKnown(anyForms[node.form]);
      case 'map':
        return {
          type: 'object',
          additionalProperties: this.#element(node.values),
          ...(node.mapType ? { 'x-kubernetes-map-type': node.mapType } : {}),
        };
      case 'list':
        return { type: 'array', items: this.#element(node.items), ...listType(node) };
      case 'object':
        return node.name === undefined ? this.#object(node) : { ...this.reference(node), ...empty({}) };
      case 'either':
        return this.#either(node);
    }
  }

  /** Returns the schema of list items and map values, which cannot be absent. */
  #element(node: Node): Json {
    return this.#described(this.#value(resolve(node), false), undefined);
  }

  #either({ object, or }: EitherNode): Json {
    const name = (resolve(object) as ObjectNode).name!;
    const suffix = { list: 'OrArray', boolean: 'OrBool', strings: 'OrStringArray' }[or];
    const description = { list: 'a list of schemas', boolean: 'true or false', strings: 'a list of names' }[or];
    return this.#define(`${name}${suffix}`, () => ({ description: `A schema, or ${description}.` }));
  }

  #constraints(node: Node): Json {
    const { rules, default: defaultValue, ...limits } = node.constraints ?? {};
    return {
      ...limits,
      ...(defaultValue === undefined || this.#dialect === 'v2' ? {} : { default: defaultValue }),
      ...(rules && this.#dialect === 'v3' ? { 'x-kubernetes-validations': rules } : {}),
    };
  }

  #customDefinition(schema: JsonSchema, gvk: GroupVersionKind, selectable: readonly string[]): Json {
    const fields = selectable.map((fieldPath) => ({ fieldPath }));
    const kinds = {
      'x-kubernetes-group-version-kind': [gvk],
      ...(fields.length > 0 && this.#dialect === 'v3' ? { 'x-kubernetes-selectable-fields': fields } : {}),
    };
    // In version 2, a schema with properties has no others.
    if (this.#dialect === 'v2' && schema['x-kubernetes-preserve-unknown-fields']) return { type: 'object', ...kinds };
    return { ...this.#withObjectFields(this.#custom(schema)), ...kinds };
  }

  #withObjectFields(schema: Json): Json {
    return {
      ...schema,
      properties: {
        ...(schema['properties'] as Json | undefined),
        apiVersion: apiVersionSchema,
        kind: kindSchema,
        metadata: this.#described(this.reference(this.#vocabulary.objectMeta), objectMetadataDoc),
      },
    };
  }

  #custom(schema: JsonSchema): Json {
    const published = this.#dialect === 'v2' ? withoutVersion3(schema) : schema;
    const { properties } = published;
    const items = itemsOf(published);
    const additional = additionalOf(published);
    const whole: Json = {
      ...published,
      ...(properties ? { properties: mapValues(properties, (property) => this.#custom(property)) } : {}),
      ...(items ? { items: this.#custom(items) } : {}),
      ...(additional ? { additionalProperties: this.#custom(additional) } : {}),
    };
    return schema['x-kubernetes-embedded-resource'] && published.properties ? this.#withObjectFields(whole) : whole;
  }
}

/**
 * Reduces a schema to what version 2 can express. Nulls and unknown fields cannot be allowed, so schemas that allow
 * them are published without content: clients would reject what the server accepts.
 */
function withoutVersion3(schema: JsonSchema): JsonSchema {
  const { allOf: _all, anyOf: _any, oneOf: _one, not: _not, nullable, default: _default, ...rest } = schema;
  const { 'x-kubernetes-validations': _rules, ...remaining } = rest;
  const { properties, items, type, required, ...open } = remaining;
  const isOpen = nullable === true || remaining['x-kubernetes-preserve-unknown-fields'] === true;
  if (!isOpen) {
    const asked = required?.filter((name) => properties?.[name]?.nullable !== true) ?? [];
    const { required: _required, ...others } = remaining;
    return asked.length > 0 ? { ...others, required: asked } : others;
  }
  return type === undefined || nullable || type === 'object' || type === 'array' ? open : { ...open, type };
}

/** Returns the kinds of each definition; DeleteOptions and WatchEvent are kinds of every group. */
function kindsByDefinition(
  resources: readonly PublishedResource[],
  { kinds, status, apiResourceList, deleteOptions, watchEvent }: Vocabulary,
): ReadonlyMap<string, readonly GroupVersionKind[]> {
  const byName = new Map<string, GroupVersionKind[]>();
  const core = { group: '', version: 'v1' };
  const groups = new Map(
    [core, ...resources.map(({ kind }) => kind)].map((each) => [`${each.group}/${each.version}`, each]),
  );
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, groupVersion]) => groupVersion);
  const known = (node: ObjectNode, kind: string, versions: readonly { group: string; version: string }[]) =>
    byName.set(
      node.name!,
      versions.map((each) => gvkOf({ ...each, kind })),
    );

  const subresourceKinds = resources.flatMap(({ subresources }) => subresources.flatMap(({ kind }) => kind ?? []));
  for (const kind of [...kinds, ...resources.map((resource) => resource.kind), ...subresourceKinds]) {
    if (kind.root.name === undefined) continue;
    known(kind.root, kind.kind, [kind]);
    if (kind.list.name !== undefined) known(kind.list, kind.listKind, [kind]);
  }
  known(status, 'Status', [core]);
  known(apiResourceList, 'APIResourceList', [core]);
  known(deleteOptions, 'DeleteOptions', sorted);
  known(watchEvent, 'WatchEvent', sorted);
  return byName;
}

function listType({ listType: type, keys }: ListNode): Json {
  return {
    ...(keys ? { 'x-kubernetes-list-map-keys': keys } : {}),
    ...(type ? { 'x-kubernetes-list-type': type } : {}),
  };
}

function described(doc: string | undefined): Json {
  return doc ? { description: doc } : {};
}

function mapValues<T, R>(
  object: { readonly [name: string]: T },
  change: (value: T) => R,
): { readonly [name: string]: R } {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

// Conformance tests look for the first words of these descriptions.
const apiVersionSchema: Json = {
  description: 'APIVersion defines which group and version of its schema this object keeps to.',
  type: 'string',
};
const kindSchema: Json = { description: 'The kind of this object.', type: 'string' };
const objectMetadataDoc = "Standard object's metadata: name, labels, owners and the other facts every object has.";
const listMetadataDoc = 'The version of the list, and how to go on reading it.';
