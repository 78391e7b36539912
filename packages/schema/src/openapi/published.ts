import type { Kind } from '../kind.ts';
import type { ObjectNode } from '../language.ts';
import type { JsonSchema } from '../structural/json-schema.ts';

/** A resource as OpenAPI publishes it: its kind and its subresources. */
export type PublishedResource = {
  readonly kind: Kind;
  /** Schema of a custom resource from its CRD; built-in kinds have theirs in `kind.root`. */
  readonly custom?: JsonSchema;
  readonly subresources: readonly PublishedSubresource[];
  /** Selectable fields of a custom resource, without a leading dot. */
  readonly selectableFields?: readonly string[];
  /** DELETE returns the object, not a Status. */
  readonly returnsDeleted?: boolean;
};

/** A subresource. */
export type PublishedSubresource = {
  readonly name: string;
  readonly verbs: readonly string[];
  /** Kind of the request and response body, if it is not the resource's own. */
  readonly kind?: Kind;
  /**
   * Options in the query, for subresources that return text or a stream instead of an object: `log`, `exec`, `proxy`.
   */
  readonly options?: ObjectNode;
};

/** Schemas that requests and responses of every kind use, and the kinds that schemas can reference. */
export type Vocabulary = {
  readonly objectMeta: ObjectNode;
  readonly listMeta: ObjectNode;
  readonly status: ObjectNode;
  readonly deleteOptions: ObjectNode;
  readonly watchEvent: ObjectNode;
  readonly apiResourceList: ObjectNode;
  /** All kinds of the server: a document may refer to kinds of other groups. */
  readonly kinds: readonly Kind[];
};

/** A request or response body. */
export type Content =
  | { readonly type: 'object'; readonly resource: PublishedResource }
  | { readonly type: 'list'; readonly resource: PublishedResource }
  | { readonly type: 'named'; readonly node: ObjectNode }
  | { readonly type: 'status' | 'deleteOptions' | 'patch' | 'watchEvent' | 'apiResourceList' | 'text' };

/** A non-resource endpoint: a list of API groups, the version. */
export type PublishedPage = {
  /** Path with a trailing slash. */
  readonly path: string;
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly types: readonly string[];
  /** Schema of the response; text if absent. */
  readonly answer?: ObjectNode;
};

/** A group and a version. */
export type GroupVersion = { readonly group: string; readonly version: string };
/** A group, version and kind. */
export type GroupVersionKind = GroupVersion & { readonly kind: string };

/** Returns only the group, version and kind. */
export function gvkOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, kind, version };
}

/** Returns the path prefix: `/api/v1` or `/apis/apps/v1`. */
export function rootPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/**
 * Returns the definition name of a kind: built-in kinds have their own, custom resources are named by their reversed
 * group.
 */
export function definitionName({ kind, custom }: PublishedResource): string {
  if (custom === undefined) return kind.root.name!;
  return `${kind.group.split('.').reverse().join('.')}.${kind.version}.${kind.kind}`;
}
