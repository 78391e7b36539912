import type { ObjectNode, Typed } from './language.ts';

/** Whether the objects of a kind are in namespaces. */
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

/** Where a custom resource keeps what its `scale` subresource shows. */
export type ScalePaths = {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
};

/** One version of a kind: how it is named and reached, and the schema of its objects. */
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
  /** What can be done with it; all eight verbs unless said otherwise. */
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  readonly scale?: ScalePaths;
  readonly columns?: readonly Column[];
  readonly root: ObjectNode & Typed<T>;
  readonly list: ObjectNode;
};

/** The static type of a kind's objects. */
export type ObjectOf<K> = K extends Typed<infer T> ? T : never;

/** What every stored kind can be asked for. */
export const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The group in an `apiVersion`: `apps` of `apps/v1`, and empty of `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** `deployments.apps`, or `pods` for the core group: how messages name a resource. */
export function resourceOf({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return group === '' ? plural : `${plural}.${group}`;
}
