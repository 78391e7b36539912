import type { Container } from '@kruise/api/core/container';
import { type Namespace, namespace as namespaceKind } from '@kruise/api/core/namespace';
import { type Pod, pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { isSame } from '@kruise/machinery/json-value';
import { forbidden, internalError, invalid } from '@kruise/machinery/status';
import { resourceOf } from '@kruise/schema/kind';
import type { KubeObject } from '../../object.ts';
import { type AdmissionPlugin, type Attributes, isResource } from '../admission.ts';
import type { Lookup } from '../lookup.ts';
import { detailed, type Violation, violationsOf } from '../pod-security/checks.ts';
import {
  formatLevel,
  isPrivileged,
  isSameLevel,
  type LevelVersion,
  policyOf,
  strictness,
} from '../pod-security/policy.ts';

const annotationPrefix = 'pod-security.kubernetes.io/';
/** Maximum number of Pods to check when the level of a namespace becomes stricter. */
const maxPodsToCheck = 3000;

/** Pod template of each workload kind. */
const templates: { readonly [resource: string]: (object: KubeObject) => PodTemplateSpec | null | undefined } = {
  replicationcontrollers: ({ spec }) => (spec as { template?: PodTemplateSpec }).template,
  podtemplates: (object) => object['template'] as PodTemplateSpec,
  'replicasets.apps': ({ spec }) => (spec as { template?: PodTemplateSpec }).template,
  'deployments.apps': ({ spec }) => (spec as { template?: PodTemplateSpec }).template,
  'statefulsets.apps': ({ spec }) => (spec as { template?: PodTemplateSpec }).template,
  'daemonsets.apps': ({ spec }) => (spec as { template?: PodTemplateSpec }).template,
  'jobs.batch': ({ spec }) => (spec as { template?: PodTemplateSpec }).template,
  'cronjobs.batch': ({ spec }) =>
    (spec as { jobTemplate?: { spec?: { template?: PodTemplateSpec } } }).jobTemplate?.spec?.template,
};

/** Pod subresources that cannot change the Pod spec. */
const ignoredSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status']);

/**
 * PodSecurity plugin: Pods must meet the level of their namespace. Workloads only get warnings about their Pod
 * template.
 */
export function podSecurity(lookup: Lookup): AdmissionPlugin {
  const namespaces = lookup.of(namespaceKind);
  const pods = lookup.of(pod);

  function checkPod(attributes: Attributes): void {
    const { namespace, operation } = attributes;
    const found = namespaces.get(namespace);
    if (!found) throw internalError(`failed to lookup namespace ${JSON.stringify(namespace)}`);
    const { policy } = policyOf(found.metadata.labels);
    if (isPrivileged(policy)) {
      addAuditAnnotation(attributes, 'enforce-policy', 'privileged:latest');
      return;
    }
    const object = attributes.object as Pod;
    if (operation === 'UPDATE' && !isSignificant(object, attributes.oldObject as Pod)) return;
    addAuditAnnotation(attributes, 'enforce-policy', formatLevel(policy.enforce));
    const violations = violationsOf(policy.enforce, object.metadata, object.spec!);
    addWarnings(attributes, policy, object, violations.length === 0);
    if (violations.length === 0) return;
    throw forbidden(
      pod,
      attributes.name,
      `violates PodSecurity "${formatLevel(policy.enforce)}": ${detailed(violations)}`,
    );
  }

  function checkWorkload(attributes: Attributes): void {
    const found = namespaces.get(attributes.namespace);
    if (!found) return;
    const { policy } = policyOf(found.metadata.labels);
    if (policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return;
    const template = templates[resourceOf(attributes.resource.kind)]!(attributes.object!);
    if (template?.spec) addWarnings(attributes, policy, template, true);
  }

  function checkNamespace(attributes: Attributes): void {
    const object = attributes.object as Namespace;
    const { policy, faults } = policyOf(object.metadata.labels);
    const old = attributes.oldObject && policyOf((attributes.oldObject as Namespace).metadata.labels);
    // An update may keep labels that were already invalid.
    if (faults.length > 0 && !(old && isSame(faults, old.faults))) {
      throw invalid(namespaceKind, attributes.name, faults);
    }
    if (!old || isSameLevel(policy.enforce, old.policy.enforce) || policy.enforce.level === 'privileged') return;
    const isLessStrict =
      policy.enforce.version === old.policy.enforce.version &&
      strictness(policy.enforce.level) <= strictness(old.policy.enforce.level);
    if (isLessStrict) return;
    for (const warning of warningsOf(object.metadata.name!, policy.enforce)) attributes.context.warnings.add(warning);
  }

  /** Existing Pods keep running; violations are only returned as warnings. */
  function* warningsOf(namespace: string, enforce: LevelVersion): Generator<string> {
    const all = sortByController(pods.list(namespace));
    const named = new Map<string, string[]>();
    for (const each of all.slice(0, maxPodsToCheck)) {
      const violations = violationsOf(enforce, each.metadata, each.spec!);
      if (violations.length === 0) continue;
      const reasons = violations.map(({ reason }: Violation) => reason).join(', ');
      const names = named.get(reasons);
      if (names) names.push(each.metadata.name!);
      else named.set(reasons, [each.metadata.name!]);
    }
    if (all.length > maxPodsToCheck) {
      yield `new PodSecurity enforce level only checked against the first ${maxPodsToCheck} of ${all.length} existing pods`;
    }
    if (named.size === 0) return;
    yield `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${JSON.stringify(formatLevel(enforce))}`;
    yield* [...named].map(([reasons, names]) => `${summarized(names)}: ${reasons}`).sort();
  }

  return {
    name: 'PodSecurity',
    handles({ operation, resource: { kind }, subresource }) {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
      if (isResource(kind, pod)) return !ignoredSubresources.has(subresource);
      return subresource === '' && (isResource(kind, namespaceKind) || templates[resourceOf(kind)] !== undefined);
    },
    validate(attributes) {
      const { kind } = attributes.resource;
      if (isResource(kind, pod)) checkPod(attributes);
      else if (isResource(kind, namespaceKind)) checkNamespace(attributes);
      else checkWorkload(attributes);
    },
  };
}

function addAuditAnnotation({ context }: Attributes, name: string, value: string): void {
  context.auditAnnotations.set(`${annotationPrefix}${name}`, value);
}

/** Adds audit annotations and warnings for violations of the audit and warn levels. */
function addWarnings(
  attributes: Attributes,
  { audit, warn }: { readonly audit: LevelVersion; readonly warn: LevelVersion },
  { metadata, spec }: PodTemplateSpec,
  isAllowed: boolean,
): void {
  const audited = violationsOf(audit, metadata, spec!);
  if (audited.length > 0) {
    addAuditAnnotation(
      attributes,
      'audit-violations',
      `would violate PodSecurity "${formatLevel(audit)}": ${detailed(audited)}`,
    );
  }
  if (!isAllowed) return;
  const warned = violationsOf(warn, metadata, spec!);
  if (warned.length === 0) return;
  attributes.context.warnings.add(`would violate PodSecurity "${formatLevel(warn)}": ${detailed(warned)}`);
}

/**
 * Pod updates only matter if they change images or add containers; the other mutable fields are irrelevant to the
 * checks.
 */
function isSignificant({ spec }: Pod, { spec: before }: Pod): boolean {
  const imagesDiffer = (containers: readonly Container[] = [], old: readonly Container[] = []) =>
    containers.length !== old.length || containers.some(({ image }, index) => image !== old[index]!.image);
  if (imagesDiffer(spec?.containers, before?.containers)) return true;
  if (imagesDiffer(spec?.initContainers, before?.initContainers)) return true;
  return (spec?.ephemeralContainers ?? []).some(({ name, image }) => {
    const old = before?.ephemeralContainers?.find((each) => each.name === name);
    return !old || old.image !== image;
  });
}

/**
 * Sorts the first Pod of each controller to the front, because the others of the same controller are most likely
 * identical.
 */
function sortByController(pods: readonly Pod[]): readonly Pod[] {
  const seen = new Set<string>();
  const first: Pod[] = [];
  const others: Pod[] = [];
  for (const each of pods) {
    const owner = each.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner !== undefined && seen.has(owner)) others.push(each);
    else first.push(each);
    if (owner !== undefined) seen.add(owner);
  }
  return [...first, ...others];
}

function summarized(names: readonly string[]): string {
  const first = names.toSorted()[0]!;
  if (names.length === 1) return first;
  return `${first} (and ${names.length - 1} other ${names.length === 2 ? 'pod' : 'pods'})`;
}
