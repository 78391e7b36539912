import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { RoleRef, Subject } from '@kruise/api/rbac/subject';
import type { ObjectCache } from '../cache/object-cache.ts';
import type { KubeObject } from '../object.ts';
import type { User } from '../user.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';

/** The objects that say who may do what, as the server has them in memory. */
export type RbacObjects = {
  readonly roles: Objects;
  readonly clusterRoles: Objects;
  readonly roleBindings: Objects;
  readonly clusterRoleBindings: Objects;
};

export type Objects = { readonly cache: ObjectCache; readonly prefix: string };

type Binding = KubeObject & { readonly subjects?: readonly Subject[]; readonly roleRef: RoleRef };
type Role = KubeObject & { readonly rules?: readonly PolicyRule[] | null };

/** A rule that applies to someone, and why. */
export type Grant = { readonly rule: PolicyRule; readonly reason: string };

/** Everything that applies to a user in a namespace (all of the cluster's where it is empty). */
export type Grants = {
  readonly grants: Iterable<Grant>;
  /** Bindings to roles that do not exist, filled as `grants` is read. */
  readonly missing: readonly string[];
};

/** Decides by roles and bindings. */
export interface Rbac extends Authorizer {
  grantsOf(user: User, namespace: string): Grants;
}

/** Decisions are the same until a role or binding changes; this many are remembered. */
const rememberedDecisions = 4096;

export function createRbac(objects: RbacObjects): Rbac {
  const { roles, clusterRoles, roleBindings, clusterRoleBindings } = objects;
  const caches = Object.values(objects).map(({ cache }) => cache);
  let decisions = new Map<string, Decision>();
  let decidedAt = 0;

  function ruleSet({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role =
      kind === 'ClusterRole'
        ? clusterRoles.cache.get(`${clusterRoles.prefix}${name}`)
        : roles.cache.get(`${roles.prefix}${namespace}/${name}`);
    return role && ((role.object as Role).rules ?? []);
  }

  function* grantsBy(
    bindings: readonly { readonly object: KubeObject }[],
    user: User,
    namespace: string,
    missing: string[],
  ): Generator<Grant> {
    for (const { object } of bindings) {
      const { subjects = [], roleRef, kind, metadata } = object as Binding;
      const subject = subjects.find((each) => appliesTo(each, user, namespace));
      if (!subject) continue;
      const rules = ruleSet(roleRef, namespace);
      if (!rules) {
        missing.push(`${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io "${roleRef.name}" not found`);
        continue;
      }
      const where = namespace === '' ? '' : `/${namespace}`;
      const reason = `RBAC: allowed by ${kind} "${metadata.name}${where}" of ${roleRef.kind} "${roleRef.name}" to ${printed(subject)}`;
      for (const rule of rules) yield { rule, reason };
    }
  }

  function grantsOf(user: User, namespace: string): Grants {
    const missing: string[] = [];
    function* all(): Generator<Grant> {
      yield* grantsBy(clusterRoleBindings.cache.list({ keyPrefix: clusterRoleBindings.prefix }), user, '', missing);
      if (namespace === '') return;
      const keyPrefix = `${roleBindings.prefix}${namespace}/`;
      yield* grantsBy(roleBindings.cache.list({ keyPrefix }), user, namespace, missing);
    }
    return { grants: all(), missing };
  }

  function decide(attributes: Attributes): Decision {
    const namespace = attributes.resource ? attributes.namespace : '';
    const { grants, missing } = grantsOf(attributes.user, namespace);
    for (const { rule, reason } of grants) {
      if (allows(rule, attributes)) return { verdict: 'allow', reason };
    }
    const reason = missing.length === 0 ? '' : `RBAC: ${missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`}`;
    return { verdict: 'no-opinion', reason };
  }

  return {
    grantsOf,
    authorize(attributes) {
      const changedAt = Math.max(...caches.map((cache) => cache.changedAt));
      if (changedAt !== decidedAt || decisions.size > rememberedDecisions) {
        decisions = new Map();
        decidedAt = changedAt;
      }
      const key = keyOf(attributes);
      let decision = decisions.get(key);
      if (!decision) decisions.set(key, (decision = decide(attributes)));
      return decision;
    },
  };
}

function keyOf(attributes: Attributes): string {
  const { user, verb } = attributes;
  const who = `${user.username}\0${user.groups.join('\0')}\0\0${verb}`;
  if (!attributes.resource) return `${who}\0${attributes.path}`;
  const { group, plural, subresource, namespace, name } = attributes;
  return `${who}\0${group}\0${plural}\0${subresource}\0${namespace}\0${name}`;
}

function appliesTo({ kind, name, namespace }: Subject, user: User, bindingNamespace: string): boolean {
  switch (kind) {
    case 'User':
      return user.username === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.username === `system:serviceaccount:${namespace || bindingNamespace}:${name}`;
    default:
      return false;
  }
}

function printed({ kind, name, namespace }: Subject): string {
  return kind === 'ServiceAccount' ? `${kind} "${name}/${namespace}"` : `${kind} "${name}"`;
}

/** Whether a rule allows what is wanted. */
export function allows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (!attributes.resource)
    return (rule.nonResourceURLs ?? []).some((pattern) => matchesPath(pattern, attributes.path));
  const { group, plural, subresource, name } = attributes;
  if (!includes(rule.apiGroups, group)) return false;
  if (!matchesResource(rule.resources, plural, subresource)) return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || names.includes(name);
}

function includes(values: readonly string[] | null | undefined, wanted: string): boolean {
  return values?.some((value) => value === '*' || value === wanted) ?? false;
}

function matchesResource(
  resources: readonly string[] | null | undefined,
  plural: string,
  subresource: string,
): boolean {
  const whole = subresource === '' ? plural : `${plural}/${subresource}`;
  return (
    resources?.some(
      (resource) => resource === '*' || resource === whole || (subresource !== '' && resource === `*/${subresource}`),
    ) ?? false
  );
}

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''));
}
