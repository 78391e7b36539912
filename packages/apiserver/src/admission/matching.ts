/** What webhooks and policies are about: which writes, to which resources, in which namespaces, with which labels. */

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

/** A write as someone sees it who asked for it in a certain version. */
export type Target = {
  readonly resource: ResourceVersion;
  readonly kind: GroupVersionKind;
  /** The version objects are to be shown in, if it is not the one they are in. */
  readonly version?: Resource;
};

/** What someone asked to be told of. */
export type Criteria = {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly excluded: readonly NamedRuleWithOperations[];
  /** Without rules everything matches. */
  readonly everyResource: boolean;
  /** Other versions of the same objects match too. */
  readonly equivalent: boolean;
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
};

/** Kinds that nobody is ever asked about: who got them wrong could not mend them. */
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

/** A selector; one that was never given selects everything. */
export function compiledSelector(selector: LabelSelector | null | undefined): Selector {
  return selector ? selectorOf(selector) : everything;
}

/** Someone with criteria, and the place among all who have some. */
export type Concerned<T> = readonly [index: number, who: T];

export type Matcher = {
  /**
   * Whom a write may concern, by the operation and the resource alone; their criteria name no objects. Most writes
   * concern nobody, so that is found out once for all writes of a kind.
   */
  concerned<T extends { readonly criteria: Criteria }>(
    all: readonly T[],
    attributes: Attributes,
  ): readonly Concerned<T>[];
  /** How a write is to be shown to whoever has these criteria; undefined if it is not. */
  match(criteria: Criteria, attributes: Attributes): Target | undefined;
};

export function createMatcher(lookup: Lookup, resources: ResourceRegistry): Matcher {
  const namespaces = lookup.of(namespaceKind);
  const equivalents = createEquivalents(resources);

  function matchesNamespace({ namespaceSelector }: Criteria, attributes: Attributes): boolean {
    const { namespace, resource, operation, subresource, object } = attributes;
    const isNamespace = isResource(resource.kind, namespaceKind);
    if ((namespace === '' && !isNamespace) || namespaceSelector.requirements.length === 0) return true;
    // What is about to become of a namespace is not in memory yet.
    if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
      return namespaceSelector.matches(object?.metadata.labels);
    }
    const found = namespaces.get(namespace);
    if (!found) throw notFound(namespaceKind, namespace);
    return namespaceSelector.matches(found.metadata.labels);
  }

  let generation = -1;
  let known = new WeakMap<readonly unknown[], Map<string, readonly Concerned<unknown>[]>>();

  return {
    concerned<T extends { readonly criteria: Criteria }>(all: readonly T[], attributes: Attributes) {
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
        const isConcerned = ({ criteria }: T) =>
          criteria.everyResource || targetOf(criteria.rules, criteria, attributes) !== undefined;
        found = all.flatMap((who, index): Concerned<T>[] => (isConcerned(who) ? [[index, who]] : []));
        byWrite.set(write, found);
      }
      // It was made of this very list.
      return found as readonly Concerned<T>[];
    },
    match(criteria, attributes) {
      const target = criteria.everyResource ? asIs(attributes) : targetOf(criteria.rules, criteria, attributes);
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
    if (rules.some((rule) => matchesRule(rule, attributes, kind))) return asIs(attributes);
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

function asIs({ resource, kind }: Attributes): Target {
  return { resource: resource.kind, kind };
}

function asVersion({ resource, kind }: Attributes, version: Resource): Target {
  // What a subresource of another kind is sent does not change with the version of the object behind it.
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

/** The other versions of a resource, and other resources that show the same objects. */
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

/** An object in the version someone is to see it in. */
export function shownTo(
  { version }: Target,
  { resource }: Attributes,
  object: KubeObject | undefined,
): KubeObject | undefined | Promise<KubeObject> {
  if (!version || !object) return object;
  // Only what the registry holds has other versions.
  const own = resource as Resource;
  const stored = own.conversion.toStorage(object);
  return stored instanceof Promise
    ? stored.then((each) => version.conversion.fromStorage(each))
    : version.conversion.fromStorage(stored);
}
