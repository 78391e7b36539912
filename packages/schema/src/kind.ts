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

/** Reference of an object to one of its owners. */
export type OwnerReferenceOf = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** Fields of one field manager in `metadata.managedFields`. */
export type ManagedFieldsOf = {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string | null;
  readonly fieldsType?: string;
  readonly fieldsV1?: { readonly [path: string]: unknown };
  readonly subresource?: string;
};

/**
 * Metadata of objects of every kind. The schema of these fields is defined with the kinds (`ObjectMeta`); a type test
 * there keeps both equal.
 */
export type Metadata = {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly selfLink?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string | null;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  readonly ownerReferences?: readonly OwnerReferenceOf[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsOf[];
};

/** Fields that objects of every kind have. */
export type KubernetesObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
};

/** One version of a kind: its names and the schema of its objects. */
export type Kind<T extends KubernetesObject = KubernetesObject> = Typed<T> & {
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

/**
 * Static type of a kind's objects. The type has `apiVersion`, `kind` and `metadata` for every kind, also where the kind is
 * a type parameter.
 *
 * ```ts
 * const nameOf = <K extends Kind>(object: ObjectOf<K>) => object.metadata.name;
 * ```
 */
export type ObjectOf<K> = K extends Typed<infer T extends KubernetesObject> ? T : never;

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
