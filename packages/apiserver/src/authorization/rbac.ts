import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { RoleRef, Subject } from '@kruise/api/rbac/subject';
import type { KubeObject } from '../object.ts';
import type { StoredObjects } from '../objects/stored-objects.ts';
import type { User } from '../user.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { type Binding, type BindingIndex, type Bound, indexBindings } from './binding-index.ts';
import { allows } from './rule.ts';

/** Listers of the RBAC objects. */
export type RbacObjects = {
  readonly roles: StoredObjects;
  readonly clusterRoles: StoredObjects;
  readonly roleBindings: StoredObjects;
  readonly clusterRoleBindings: StoredObjects;
};

type Role = KubeObject & { readonly rules?: readonly PolicyRule[] | null };

/** Rule that applies to a user, and the binding that grants it. */
export type Grant = { readonly rule: PolicyRule; readonly bound: Bound; readonly namespace: string };

/** All rules that apply to a user in a namespace; an empty namespace means cluster-wide. */
export type Grants = {
  readonly grants: Iterable<Grant>;
  /** Bindings to missing roles, collected while `grants` is iterated. */
  readonly missing: readonly string[];
};

/** RBAC authorizer. */
export interface Rbac extends Authorizer {
  authorize(attributes: Attributes): Decision;
  grantsOf(user: User, namespace: string): Grants;
  /** Returns the rules of a role; undefined if the role does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
}

/** Maximum number of memoized decisions. Decisions are the same until a role or binding changes. */
const memoizedDecisions = 8192;
/** Longer keys are not memoized: clients choose paths and names of up to a megabyte. All keys together stay below 8 MB. */
const maxKeyLength = 1024;
/** Marks decisions that depend on the object name, because a rule has resourceNames. */
const dependsOnName = Symbol('depends on the name');

export function createRbac(objects: RbacObjects): Rbac {
  const { roles, clusterRoles, roleBindings, clusterRoleBindings } = objects;
  let decisions = new Map<string, Decision | typeof dependsOnName>();
  let indexes = new Map<string, BindingIndex>();
  let decidedAt = -1;

  /** Invalidates the memoized decisions and indexes after a role or binding changed. */
  function invalidateMemos(): void {
    const changedAt = Math.max(
      roles.cache.changedAt,
      clusterRoles.cache.changedAt,
      roleBindings.cache.changedAt,
      clusterRoleBindings.cache.changedAt,
    );
    if (changedAt === decidedAt) return;
    decisions = new Map();
    indexes = new Map();
    decidedAt = changedAt;
  }

  function indexOf(namespace: string): BindingIndex {
    let index = indexes.get(namespace);
    if (!index) {
      const { cache, prefix } = namespace === '' ? clusterRoleBindings : roleBindings;
      const bindings = cache.list({ keyPrefix: namespace === '' ? prefix : `${prefix}${namespace}/` });
      index = indexBindings(
        bindings.map(({ object }) => object as Binding),
        namespace,
      );
      // Clients can name any number of namespaces without bindings, most of which do not exist.
      if (bindings.length > 0) indexes.set(namespace, index);
    }
    return index;
  }

  function rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role =
      kind === 'ClusterRole'
        ? clusterRoles.cache.get(`${clusterRoles.prefix}${name}`)
        : roles.cache.get(`${roles.prefix}${namespace}/${name}`);
    return role && ((role.object as Role).rules ?? []);
  }

  function* grantsIn(user: User, namespace: string, missing: string[]): Generator<Grant> {
    for (const bound of indexOf(namespace).of(user)) {
      const { roleRef } = bound.binding;
      const rules = rulesOf(roleRef, namespace);
      if (!rules) missing.push(missingRole(roleRef));
      else for (const rule of rules) yield { rule, bound, namespace };
    }
  }

  function grantsOf(user: User, namespace: string): Grants {
    invalidateMemos();
    const missing: string[] = [];
    function* all(): Generator<Grant> {
      yield* grantsIn(user, '', missing);
      if (namespace !== '') yield* grantsIn(user, namespace, missing);
    }
    return { grants: all(), missing };
  }

  /** Returns a decision, and whether it applies to all object names. */
  function decide(attributes: Attributes): { readonly decision: Decision; readonly isForAll: boolean } {
    const { grants, missing } = grantsOf(attributes.user, attributes.resource ? attributes.namespace : '');
    let isForAll = true;
    for (const grant of grants) {
      const { rule } = grant;
      const isByName = Boolean(rule.resourceNames?.length) && allows({ ...rule, resourceNames: [] }, attributes);
      if (isByName) isForAll = false;
      if (allows(rule, attributes)) return { decision: { verdict: 'allow', reason: reasonOf(grant) }, isForAll };
    }
    const reason = missing.length === 0 ? '' : `RBAC: ${joinErrors(missing)}`;
    return { decision: { verdict: 'no-opinion', reason }, isForAll };
  }

  function memoize(key: string, decision: Decision | typeof dependsOnName): void {
    if (key.length > maxKeyLength) return;
    if (decisions.size >= memoizedDecisions) decisions.clear();
    decisions.set(key, decision);
  }

  return {
    grantsOf,
    rulesOf,
    authorize(attributes) {
      invalidateMemos();
      const key = keyOf(attributes);
      let known = decisions.get(key);
      if (known !== undefined && known !== dependsOnName) return known;
      const namedKey = `${key}${part(attributes.resource ? attributes.name : '')}`;
      if (known === dependsOnName) known = decisions.get(namedKey);
      if (known !== undefined && known !== dependsOnName) return known;
      const { decision, isForAll } = decide(attributes);
      memoize(key, isForAll ? decision : dependsOnName);
      if (!isForAll) memoize(namedKey, decision);
      return decision;
    },
  };
}

/**
 * Returns the key a decision is memoized by, without the name of the object, as there are many names. Users, groups and
 * other parts may hold any character (a SubjectAccessReview takes them from its sender), so each part is preceded by
 * its length: no two requests have the same key.
 */
function keyOf(attributes: Attributes): string {
  const { user, verb } = attributes;
  let key = `${attributes.resource ? 'r' : 'p'}${user.groups.length}${part(user.username)}`;
  for (const group of user.groups) key += part(group);
  key += part(verb);
  if (!attributes.resource) return key + part(attributes.path);
  const { group, plural, subresource, namespace } = attributes;
  return key + part(group) + part(plural) + part(subresource) + part(namespace);
}

function part(text: string): string {
  return `,${text.length}:${text}`;
}

/** Returns the error text for a missing role. */
function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
}

/** Joins several errors without duplicates. */
export function joinErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}

function reasonOf({ bound: { binding, subject }, namespace }: Grant): string {
  const { kind, metadata, roleRef } = binding;
  const name = namespace === '' ? metadata.name : `${metadata.name}/${namespace}`;
  return `RBAC: allowed by ${kind} "${name}" of ${roleRef.kind} "${roleRef.name}" to ${formatSubject(subject, namespace)}`;
}

function formatSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount' ? `${kind} "${name}/${namespace || bindingNamespace}"` : `${kind} "${name}"`;
}
