/** Match criteria of webhooks and policies: operations, resources, namespaces and labels. */

import type { NamedRuleWithOperations, RuleWithOperations } from '@kruise/api/admissionregistration/rule';
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import type { LabelSelector, Selector } from '@kruise/machinery/label-selector';
import { everything, selectorOf } from '@kruise/machinery/label-selector';
import { notFound } from '@kruise/machinery/status';
import type { KubeObject } from '../object.ts';
import type { ResourceRegistry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import { type Attributes, type GroupVersionKind, isResource } from './admission.ts';
import type { Lookup } from './lookup.ts';

type ResourceVersion = { readonly group: string; readonly version: string; readonly plural: string };

/** Write as matched by a webhook or policy, in the version that its rules select. */
export type Target = {
  readonly resource: ResourceVersion;
  readonly kind: GroupVersionKind;
  /** Version to convert the objects to, if it differs from the version of the request. */
  readonly version?: Resource;
};

/** Match criteria of a webhook or policy. */
export type Criteria = {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly excluded: readonly NamedRuleWithOperations[];
  /** Matches every resource, because there are no rules. */
  readonly everyResource: boolean;
  /** Rules also match equivalent resources: other versions of the same objects. */
  readonly equivalent: boolean;
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
};

/** Kinds that are exempt from webhooks and policies: otherwise a broken configuration could block its own repair. */
const exempt = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

export function isExempt({ kind }: Attributes): boolean {
  return kind.group === 'admissionregistration.k8s.io' && exempt.has(kind.kind);
}

/** Compiles a selector. An absent selector selects everything. */
export function compiledSelector(selector: LabelSelector | null | undefined): Selector {
  return selector ? selectorOf(selector) : everything;
}

/** Candidate: an entry with criteria, and its index in the list. */
export type Candidate<T> = readonly [index: number, entry: T];

export type Matcher = {
  /**
   * Returns the candidates for a write by operation and resource alone; object criteria are not evaluated. Most writes
   * have no candidates, so the result is memoized per kind.
   */
  candidates<T extends { readonly criteria: Criteria }>(
    all: readonly T[],
    attributes: Attributes,
  ): readonly Candidate<T>[];
  /** Returns the write in the version that the criteria select; undefined if the criteria do not match. */
  match(criteria: Criteria, attributes: Attributes): Target | undefined;
};

export function createMatcher(lookup: Lookup, resources: ResourceRegistry): Matcher {
  const namespaces = lookup.of(namespaceKind);
  const equivalents = createEquivalents(resources);

  function matchesNamespace({ namespaceSelector }: Criteria, attributes: Attributes): boolean {
    const { namespace, resource, operation, subresource, object } = attributes;
    const isNamespace = isResource(resource.kind, namespaceKind);
    if ((namespace === '' && !isNamespace) || namespaceSelector.requirements.length === 0) return true;
    // The new state of a Namespace is not in the cache yet.
    if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
      return namespaceSelector.matches(object?.metadata.labels);
    }
    const found = namespaces.get(namespace);
    if (!found) throw notFound(namespaceKind, namespace);
    return namespaceSelector.matches(found.metadata.labels);
  }

  let generation = -1;
  let known = new WeakMap<readonly unknown[], Map<string, readonly Candidate<unknown>[]>>();

  return {
    candidates<T extends { readonly criteria: Criteria }>(all: readonly T[], attributes: Attributes) {
      if (generation !== resources.generation) {
        generation = resources.generation;
        known = new WeakMap();
      }
      let byWrite = known.get(all);
      if (!byWrite) known.set(all, (byWrite = new Map()));
      const { operation, subresource, namespace } = attributes;
      const { group, version, plural } = attributes.resource.kind;
      const write = `${operation} ${group}/${version}/${plural}/${subresource} ${namespace === '' ? 'in no namespace' : ''}`;
      let found = byWrite.get(write);
      if (!found) {
        const isCandidate = ({ criteria }: T) =>
          criteria.everyResource || targetOf(criteria.rules, criteria, attributes) !== undefined;
        found = all.flatMap((entry, index): Candidate<T>[] => (isCandidate(entry) ? [[index, entry]] : []));
        byWrite.set(write, found);
      }
      // The memo was computed from this same list.
      return found as readonly Candidate<T>[];
    },
    match(criteria, attributes) {
      const target = criteria.everyResource ? sameTarget(attributes) : targetOf(criteria.rules, criteria, attributes);
      if (!target || !matchesNamespace(criteria, attributes) || !matchesObject(criteria, attributes)) return undefined;
      return targetOf(criteria.excluded, criteria, attributes) ? undefined : target;
    },
  };

  function targetOf(
    rules: readonly NamedRuleWithOperations[],
    { equivalent }: Criteria,
    attributes: Attributes,
  ): Target | undefined {
    const { kind } = attributes.resource;
    if (rules.some((rule) => matchesRule(rule, attributes, kind))) return sameTarget(attributes);
    if (!equivalent || rules.length === 0) return undefined;
    const others = equivalents(kind);
    if (others.length === 0) return undefined;
    for (const rule of rules) {
      const version = others.find((other) => matchesRule(rule, attributes, other.kind));
      if (version) return asVersion(attributes, version);
    }
    return undefined;
  }
}

function sameTarget({ resource, kind }: Attributes): Target {
  return { resource: resource.kind, kind };
}

function asVersion({ resource, kind }: Attributes, version: Resource): Target {
  // The body of a subresource of another kind does not change with the version of the parent object.
  const isOwn = kind.kind === resource.kind.kind && kind.group === resource.kind.group;
  return isOwn ? { resource: version.kind, kind: version.kind, version } : { resource: version.kind, kind };
}

function matchesObject({ objectSelector }: Criteria, { object, oldObject }: Attributes): boolean {
  if (objectSelector.requirements.length === 0) return true;
  return [object, oldObject].some(
    (each) => each?.metadata !== undefined && objectSelector.matches(each.metadata.labels),
  );
}

function matchesRule(
  rule: RuleWithOperations & { readonly resourceNames?: readonly string[] },
  { operation, subresource, namespace, name }: Attributes,
  resource: ResourceVersion,
): boolean {
  const { operations, apiGroups, apiVersions, resources, scope, resourceNames = [] } = rule;
  if (scope === 'Namespaced' || scope === 'Cluster') {
    const isClusterWide = namespace === '' || isResource(resource, namespaceKind);
    if ((scope === 'Cluster') !== isClusterWide) return false;
  }
  return (
    includes(operations, operation) &&
    includes(apiGroups, resource.group) &&
    includes(apiVersions, resource.version) &&
    (resources ?? []).some((each) => matchesResource(each, resource.plural, subresource)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function includes(values: readonly string[] | undefined, wanted: string): boolean {
  return values !== undefined && (values.includes(wanted) || values.includes('*'));
}

function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const [resource, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource);
}

/** Returns the other versions of a resource, and other resources that serve the same objects. */
function createEquivalents(resources: ResourceRegistry): (kind: ResourceVersion) => readonly Resource[] {
  let generation = -1;
  let known = new Map<string, readonly Resource[]>();
  return ({ group, version, plural }) => {
    if (generation !== resources.generation) {
      generation = resources.generation;
      known = new Map();
    }
    const key = `${group}/${version}/${plural}`;
    let found = known.get(key);
    if (!found) {
      const own = resources.find(group, version, plural);
      found = own ? [...resources.all()].filter((other) => other !== own && other.storage === own.storage) : [];
      known.set(key, found);
    }
    return found;
  };
}

/** Converts an object to the version of a target. */
export function convertToTarget(
  { version }: Target,
  { resource }: Attributes,
  object: KubeObject | undefined,
): KubeObject | undefined | Promise<KubeObject> {
  if (!version || !object) return object;
  // Only resources of the registry have other versions.
  const own = resource as Resource;
  const stored = own.conversion.toStorage(object);
  return stored instanceof Promise
    ? stored.then((each) => version.conversion.fromStorage(each))
    : version.conversion.fromStorage(stored);
}
