import type { ObjectNode, Typed } from './language.ts';

/** Scope of a kind's objects. */
export type Scope = 'Namespaced' | 'Cluster';

/** A column of `kubectl get`, computed by a JSONPath. */
export type Column = {
  readonly name: string;
  readonly type: 'integer' | 'number' | 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly format?: string;
  readonly doc?: string;
  readonly priority?: number;
};

/** Paths of the `scale` subresource of a custom resource. */
export type ScalePaths = {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
};

/** One version of a kind: its names and the schema of its objects. */
export type Kind<T = unknown> = Typed<T> & {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: Scope;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Supported verbs; all eight by default. */
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  readonly scale?: ScalePaths;
  readonly columns?: readonly Column[];
  readonly root: ObjectNode & Typed<T>;
  readonly list: ObjectNode;
};

/** Static type of a kind's objects. */
export type ObjectOf<K> = K extends Typed<infer T> ? T : never;

/** Verbs of every stored kind. */
export const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;

/** Returns the apiVersion: `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the group of an `apiVersion`: `apps` for `apps/v1`, empty for `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** Returns the resource as messages name it: `deployments.apps`, or `pods` for the core group. */
export function resourceOf({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return group === '' ? plural : `${plural}.${group}`;
}
