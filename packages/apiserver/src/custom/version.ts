import { embeddedMetadata } from '@kruise/api/meta/embedded-metadata';
import { objectMeta } from '@kruise/api/meta/object-meta';
import { codecOf } from '@kruise/schema/codec';
import { type MergeType, mergeTypeOf, mergeTypeOfStructural } from '@kruise/schema/merge-type';
import { type JsonSchema, type Structural, structuralSchema } from '@kruise/schema/structural';
import type { KubeObject } from '../object.ts';
import type { Definition, DefinitionVersion } from './definition.ts';

/** Version of a custom resource, served or not, with its compiled schema. */
export type CustomVersion = {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly facts: DefinitionVersion;
  readonly schema: JsonSchema;
  readonly structural: Structural;
  /** Merge type of the objects. */
  readonly mergeType: MergeType;
  /**
   * Structures an object: prunes unknown fields, sets defaults and orders the fields. Returns the same object if
   * nothing changes.
   */
  structure(object: KubeObject): KubeObject;
  /**
   * Structures an object converted from another version. Defaults are not set, because the object has the defaults of
   * its original version.
   */
  structureConverted(object: KubeObject): KubeObject;
};

const metadataCodec = codecOf(objectMeta);
const metadataMergeType = mergeTypeOf(objectMeta);

/** Returns the versions of a definition. A schema is compiled on its first use: most versions are never used. */
export function versionsOf({ spec, status }: Definition): ReadonlyMap<string, CustomVersion> {
  const kind = status?.acceptedNames?.kind || spec.names.kind;
  return new Map(spec.versions.map((facts) => [facts.name, versionOf(spec.group, kind, facts)]));
}

/** Finds the version of an `apiVersion`. */
export function findVersion(
  versions: ReadonlyMap<string, CustomVersion>,
  apiVersion: string,
): CustomVersion | undefined {
  const version = versions.get(apiVersion.slice(apiVersion.indexOf('/') + 1));
  return version?.apiVersion === apiVersion ? version : undefined;
}

function versionOf(group: string, kind: string, facts: DefinitionVersion): CustomVersion {
  // Validation rejects definitions without a schema.
  const schema = (facts.schema?.openAPIV3Schema ?? {}) as JsonSchema;
  const structural = memoizeLazily(() => structuralSchema(schema, { metadata: embeddedMetadata }));
  const pruning = memoizeLazily(() => structuralSchema(withoutDefaults(schema), { metadata: embeddedMetadata }));
  const mergeType = memoizeLazily(() => mergeTypeOfStructural(schema, metadataMergeType));
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
    structure: (object) => withOrderedFields(structural().read(object).object as KubeObject),
    structureConverted: (object) => withOrderedFields(pruning().read(object).object as KubeObject),
  };
}

/** Returns an object with its fields in order; the same object if they already are. */
export function withOrderedFields(object: KubeObject): KubeObject {
  const metadata = metadataCodec.canonical(object.metadata);
  if (metadata === object.metadata && hasOrderedFields(object)) return object;
  const { apiVersion, kind, metadata: _, ...rest } = object;
  return { apiVersion, kind, metadata, ...rest };
}

/** Returns a schema without defaults, for pruning only. Only schemas have defaults: properties named `default` stay. */
function withoutDefaults(schema: JsonSchema): JsonSchema {
  const { default: _, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, withoutDefaults(each)])),
    }),
    // Validation rejects definitions whose items are a list of schemas.
    ...(items && { items: withoutDefaults(items as JsonSchema) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? withoutDefaults(additionalProperties) : additionalProperties,
    }),
  };
}

/** Reports whether the common object fields come first, as users expect. */
function hasOrderedFields(object: KubeObject): boolean {
  const [first, second, third] = Object.keys(object);
  return first === 'apiVersion' && second === 'kind' && third === 'metadata';
}

function memoizeLazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
