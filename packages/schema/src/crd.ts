import { dump } from 'js-yaml';
import type { Column, Kind, ScalePaths, Scope } from './kind.ts';
import { asField, type Field, type Fields, flatFields, type Node, type ObjectNode, resolve } from './language.ts';
import type { JsonSchema } from './structural/json-schema.ts';

/** The parts of a CustomResourceDefinition that kinds determine. */
export type Definition = {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly scope: Scope;
    readonly versions: readonly DefinitionVersion[];
    readonly conversion?: Conversion;
  };
};

/** One version of a CRD. */
export type DefinitionVersion = {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  readonly subresources?: { readonly status?: Record<string, never>; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly (Omit<Column, 'doc'> & { readonly description?: string })[];
};

/** Conversion strategy of a CRD. */
export type Conversion =
  | { readonly strategy: 'None' }
  | {
      readonly strategy: 'Webhook';
      readonly webhook: { readonly clientConfig: unknown; readonly conversionReviewVersions: readonly string[] };
    };

/** Kinds of a CRD, one per version, and its storage version. */
export type DefinitionOptions = {
  readonly kinds: readonly [Kind, ...Kind[]];
  /** The storage version. */
  readonly storage: string;
  readonly conversion?: Conversion;
};

/**
 * Returns the CRD of kinds that are written in the schema language.
 *
 * ```ts
 * const definition = customResourceDefinition({ kinds: [cloneSet], storage: cloneSet.version });
 * await writeFile('clonesets.yaml', definitionYaml(definition));
 * ```
 */
export function customResourceDefinition({ kinds, storage, conversion }: DefinitionOptions): Definition {
  const [{ group, kind, listKind, plural, singular, shortNames, categories, scope }] = kinds;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind,
        plural,
        singular,
        ...(shortNames.length > 0 ? { shortNames } : {}),
        ...(categories.length > 0 ? { categories } : {}),
      },
      scope,
      versions: kinds.map((each) => versionOf(each, each.version === storage)),
      ...(conversion ? { conversion } : {}),
    },
  };
}

/** Returns a CRD as YAML, to be kept in a file. */
export function definitionYaml(definition: Definition): string {
  return dump(definition, { lineWidth: -1, noRefs: true });
}

function versionOf({ version, root, subresources, scale, columns }: Kind, storage: boolean): DefinitionVersion {
  const ways = { ...(subresources.includes('status') ? { status: {} } : {}), ...(scale ? { scale } : {}) };
  return {
    name: version,
    served: true,
    storage,
    schema: { openAPIV3Schema: rootSchema(root) },
    ...(Object.keys(ways).length > 0 ? { subresources: ways } : {}),
    ...(columns
      ? {
          additionalPrinterColumns: columns.map(({ doc, ...column }) => ({
            ...column,
            ...(doc === undefined ? {} : { description: doc }),
          })),
        }
      : {}),
  };
}

/** A CRD must not describe metadata, because the server defines it. */
function rootSchema(root: ObjectNode): JsonSchema {
  const { properties, ...rest } = structuralSchemaOf(root);
  return { ...rest, properties: { ...properties, metadata: { type: 'object' } } };
}

/** Returns the structural schema of a node. Everything is inlined, because CRDs have no references. */
export function structuralSchemaOf(node: Node, doc?: string): JsonSchema {
  const found = resolve(node);
  const description = doc || found.doc;
  const { rules, ...constraints } = found.constraints ?? {};
  return {
    ...(description ? { description } : {}),
    ...shapeOf(found),
    ...constraints,
    ...(rules ? { 'x-kubernetes-validations': rules } : {}),
  };
}

const intOrString: JsonSchema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
};
const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

function shapeOf(node: ReturnType<typeof resolve>): JsonSchema {
  switch (node.type) {
    case 'string':
      // Known values are not a closed enumeration.
      return { type: 'string' };
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
    case 'number':
      return { type: node.type, ...(node.format ? { format: node.format } : {}) };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'time':
    case 'microTime':
      return { type: 'string', format: 'date-time' };
    case 'duration':
      return { type: 'string' };
    case 'quantity':
      return { ...intOrString, pattern: quantityPattern };
    case 'intOrString':
      return intOrString;
    case 'any': {
      const isObject = node.partial !== undefined || node.embeddedResource === true || node.form === 'rawExtension';
      return {
        ...(isObject ? { type: 'object' } : {}),
        ...membersOf(fieldsOf(node.partial ?? {})),
        ...(node.embeddedResource ? { 'x-kubernetes-embedded-resource': true } : {}),
        'x-kubernetes-preserve-unknown-fields': true,
      };
    }
    case 'map':
      return {
        type: 'object',
        additionalProperties: structuralSchemaOf(node.values),
        ...(node.mapType ? { 'x-kubernetes-map-type': node.mapType } : {}),
      };
    case 'list':
      return {
        type: 'array',
        items: structuralSchemaOf(node.items),
        ...(node.keys ? { 'x-kubernetes-list-map-keys': node.keys } : {}),
        ...(node.listType ? { 'x-kubernetes-list-type': node.listType } : {}),
      };
    case 'object':
      return {
        type: 'object',
        ...membersOf([...flatFields(node)]),
        ...(node.mapType ? { 'x-kubernetes-map-type': node.mapType } : {}),
      };
    case 'either':
      // A structural schema cannot express a union of types.
      return { 'x-kubernetes-preserve-unknown-fields': true };
  }
}

type Named = readonly (readonly [name: string, field: Field])[];

function fieldsOf(fields: Fields): Named {
  return Object.entries(fields).map(([name, member]) => [name, asField(member)]);
}

function membersOf(fields: Named): JsonSchema {
  if (fields.length === 0) return {};
  const required = fields.filter(([, field]) => field.required).map(([name]) => name);
  return {
    properties: Object.fromEntries(fields.map(([name, { node, doc }]) => [name, structuralSchemaOf(node, doc)])),
    ...(required.length > 0 ? { required: required.sort() } : {}),
  };
}
