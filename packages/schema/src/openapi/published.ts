import type { Kind } from '../kind.ts';
import type { ObjectNode } from '../language.ts';
import type { JsonSchema } from '../structural/json-schema.ts';

/** A resource as OpenAPI tells of it: its kind, and what else it can be asked for. */
export type PublishedResource = {
  readonly kind: Kind;
  /** The schema of a custom resource, as its definition has it; built-in kinds have theirs in `kind.root`. */
  readonly custom?: JsonSchema;
  readonly subresources: readonly PublishedSubresource[];
  /** Paths by which custom resources can be selected, without a leading dot. */
  readonly selectableFields?: readonly string[];
  /** DELETE answers with the object, not with a Status. */
  readonly returnsDeleted?: boolean;
};

/** Another way to an object of a resource. */
export type PublishedSubresource = {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind that is sent and answered, where it is not the resource's own. */
  readonly kind?: Kind;
  /**
   * Given where no object is answered but a text or a conversation, and its options are in the query: `log`, `exec`,
   * `proxy`.
   */
  readonly options?: ObjectNode;
};

/** The schemas that requests and answers of every kind are made of, and the kinds that schemas can name. */
export type Vocabulary = {
  readonly objectMeta: ObjectNode;
  readonly listMeta: ObjectNode;
  readonly status: ObjectNode;
  readonly deleteOptions: ObjectNode;
  readonly watchEvent: ObjectNode;
  readonly apiResourceList: ObjectNode;
  /** Every kind of the server: a document may refer to kinds of other groups. */
  readonly kinds: readonly Kind[];
};

/** What is sent or answered. */
export type Content =
  | { readonly type: 'object'; readonly resource: PublishedResource }
  | { readonly type: 'list'; readonly resource: PublishedResource }
  | { readonly type: 'named'; readonly node: ObjectNode }
  | { readonly type: 'status' | 'deleteOptions' | 'patch' | 'watchEvent' | 'apiResourceList' | 'text' };

/** A page that tells of the server rather than of objects: a list of groups, the version. */
export type PublishedPage = {
  /** With a slash at its end. */
  readonly path: string;
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly types: readonly string[];
  /** What is answered; a text if absent. */
  readonly answer?: ObjectNode;
};

/** A version of a group of resources. */
export type GroupVersion = { readonly group: string; readonly version: string };
/** A kind by its coordinates. */
export type GroupVersionKind = GroupVersion & { readonly kind: string };

/** A kind's coordinates and nothing else. */
export function gvkOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, kind, version };
}

/** `/api/v1` or `/apis/apps/v1`. */
export function rootPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** The name of a kind's definition: built-in ones have their own, custom ones are named by their group read backwards. */
export function definitionName({ kind, custom }: PublishedResource): string {
  if (custom === undefined) return kind.root.name!;
  return `${kind.group.split('.').reverse().join('.')}.${kind.version}.${kind.kind}`;
}
