import { embeddedMetadata } from '@kruise/api/meta/embedded-metadata';
import { objectMeta } from '@kruise/api/meta/object-meta';
import { codecOf } from '@kruise/schema/codec';
import { type MergeType, mergeTypeOf, mergeTypeOfStructural } from '@kruise/schema/merge-type';
import { type JsonSchema, type Structural, structuralSchema } from '@kruise/schema/structural';
import type { KubeObject } from '../object.ts';
import type { Definition, DefinitionVersion } from './definition.ts';

/** One version of a custom resource, served or not: what its schema makes of objects. */
export type CustomVersion = {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly facts: DefinitionVersion;
  readonly schema: JsonSchema;
  readonly structural: Structural;
  /** How its objects merge. */
  readonly mergeType: MergeType;
  /** An object of this version in its form: unknown fields gone, defaults set, fields in order. The same if it has it. */
  form(object: KubeObject): KubeObject;
  /** The same of an object that was made of another version: it gets no defaults, as it got those of that version. */
  formConverted(object: KubeObject): KubeObject;
};

const metadataCodec = codecOf(objectMeta);
const metadataMergeType = mergeTypeOf(objectMeta);

/** The versions of a definition. A schema is compiled when its first object comes: most versions never see one. */
export function versionsOf({ spec, status }: Definition): ReadonlyMap<string, CustomVersion> {
  const kind = status?.acceptedNames?.kind || spec.names.kind;
  return new Map(spec.versions.map((facts) => [facts.name, versionOf(spec.group, kind, facts)]));
}

/** The version an `apiVersion` stands for, if it is one of these. */
export function versionNamed(
  versions: ReadonlyMap<string, CustomVersion>,
  apiVersion: string,
): CustomVersion | undefined {
  const version = versions.get(apiVersion.slice(apiVersion.indexOf('/') + 1));
  return version?.apiVersion === apiVersion ? version : undefined;
}

function versionOf(group: string, kind: string, facts: DefinitionVersion): CustomVersion {
  // Definitions without a schema do not pass validation.
  const schema = (facts.schema?.openAPIV3Schema ?? {}) as JsonSchema;
  const structural = lazy(() => structuralSchema(schema, { metadata: embeddedMetadata }));
  const pruning = lazy(() => structuralSchema(withoutDefaults(schema), { metadata: embeddedMetadata }));
  const mergeType = lazy(() => mergeTypeOfStructural(schema, metadataMergeType));
  return {
    name: facts.name,
    apiVersion: `${group}/${facts.name}`,
    kind,
    facts,
    schema,
    get structural() {
      return structural();
    },
    get mergeType() {
      return mergeType();
    },
    form: (object) => inOrder(structural().read(object).object as KubeObject),
    formConverted: (object) => inOrder(pruning().read(object).object as KubeObject),
  };
}

/** An object with its fields in order, the same if they are. */
export function inOrder(object: KubeObject): KubeObject {
  const metadata = metadataCodec.canonical(object.metadata);
  if (metadata === object.metadata && isInOrder(object)) return object;
  const { apiVersion, kind, metadata: _, ...rest } = object;
  return { apiVersion, kind, metadata, ...rest };
}

/** A schema that only prunes. A default is a member of schemas alone: properties of that name stay. */
function withoutDefaults(schema: JsonSchema): JsonSchema {
  const { default: _, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, withoutDefaults(each)])),
    }),
    // Definitions whose items are a list of schemas do not pass validation.
    ...(items && { items: withoutDefaults(items as JsonSchema) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? withoutDefaults(additionalProperties) : additionalProperties,
    }),
  };
}

/** What every object has comes first, as people expect to read it. */
function isInOrder(object: KubeObject): boolean {
  const [first, second, third] = Object.keys(object);
  return first === 'apiVersion' && second === 'kind' && third === 'metadata';
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
