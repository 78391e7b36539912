import {
  type Cause,
  duplicate,
  forbidden,
  internal,
  invalid,
  notSupported,
  required,
} from '@kruise/schema/field-error';
import { parseLegacyAddress } from '@kruise/values/address';
import { quote } from '@kruise/values/go-syntax';
import {
  validateDns1123Subdomain,
  validateGroupId,
  validateInRange,
  validateQualifiedName,
  validateUserId,
} from '@kruise/values/names';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import { invalidBare, invalidStringMap, invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, orNull, refusals } from '../meta/value.validate.ts';
import type { NodeAffinity, NodeSelectorTerm } from './affinity.ts';
import type { Container } from './container.ts';
import { validateImage } from './container.validate.ts';
import type { ContainerStatus, Pod, PodStatus } from './pod.ts';
import { isSidecar } from './pod-containers.ts';
import { computeQosClass } from './pod-qos.ts';
import type { PodSpec } from './pod-spec.ts';
import { mirrorAnnotation, validateIP, validatePodAnnotations, validatePodSpec } from './pod-spec.validate.ts';
import type { ResourceRequirements } from './resources.ts';
import { appArmorAnnotationPrefix, validateProfilesMatch } from './security-context.validate.ts';
import { validateTolerations } from './toleration.validate.ts';

const maxInt32 = 2 ** 31 - 1;
const noSpec: PodSpec = { containers: [] };
const noStatus: PodStatus = {};

/** Validates a Pod at its creation. */
export function* validatePod(pod: Pod): Generator<Cause> {
  const { metadata, spec = noSpec } = pod;
  yield* validateMetadataAndSpec(pod);
  if ((spec.ephemeralContainers ?? []).length > 0)
    yield forbidden('spec.ephemeralContainers', 'cannot be set on create');
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    yield forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared');
  }
  yield* validateProfilesMatch(metadata.annotations, spec, 'spec');
}

function* validateMetadataAndSpec({ metadata, spec = noSpec }: Pod): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  yield* validatePodAnnotations(metadata.annotations, spec, 'metadata.annotations');
  yield* validatePodSpec(spec, metadata, 'spec');
  if (!spec.serviceAccountName) yield* validateNoTokens(spec);
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries())
      yield* validateImage(container, `spec.${list}[${index}]`);
  }
}

/** Projected tokens need a ServiceAccount. */
function* validateNoTokens({ volumes }: PodSpec): Generator<Cause> {
  for (const [index, { projected }] of (volumes ?? []).entries()) {
    for (const [position, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (!serviceAccountToken) continue;
      const field = `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`;
      yield forbidden(field, 'must not be specified when serviceAccountName is not set');
    }
  }
}

const mutableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

/** Validates an update of a Pod. */
export function* validatePodUpdate(pod: Pod, old: Pod): Generator<Cause> {
  const [spec, before] = [pod.spec ?? noSpec, old.spec ?? noSpec];
  yield* validateKindMetaUpdate(pod.metadata, old.metadata);
  yield* validateMetadataAndSpec(pod);
  yield* validateAnnotationsUpdate(pod, old);
  for (const list of ['containers', 'initContainers'] as const) {
    const [now, was] = [spec[list] ?? [], before[list] ?? []];
    if (now.length !== was.length) {
      return yield forbidden(`spec.${list}`, 'pod updates may not add or remove containers');
    }
    for (const [index, container] of now.entries()) {
      if (!container.image) yield required(`spec.${list}[${index}].image`);
      yield* validateImage(container, `spec.${list}[${index}]`);
    }
  }
  const deadlineFaults = [...validateDeadlineUpdate(spec, before)];
  yield* deadlineFaults;
  if (deadlineFaults.length > 0 && spec.activeDeadlineSeconds !== undefined) return;
  yield* validateTolerationsUpdate(spec, before);
  yield* validateGatesUpdate(spec, before);
  if (isSame(spec, before)) return;
  const isGated = (before.schedulingGates ?? []).length > 0;
  if (isGated) yield* validateGatedUpdate(spec, before);
  if (!isSame(withoutMutable(spec, before, isGated), before)) {
    yield forbidden('spec', `pod updates may not change fields other than ${mutableFields.join(',')}`);
  }
}

function* validateAnnotationsUpdate({ metadata, spec = noSpec }: Pod, old: Pod): Generator<Cause> {
  const [now, was] = [metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  const kept = (key: string) => Object.hasOwn(now, key) && now[key] === was[key];
  for (const key in was) if (!kept(key)) yield* forbidAnnotation(key, 'remove or update');
  for (const key in now) if (!Object.hasOwn(was, key)) yield* forbidAnnotation(key, 'add');
  yield* validatePodAnnotations(metadata.annotations, spec, 'metadata.annotations');
}

function* forbidAnnotation(key: string, verb: string): Generator<Cause> {
  const field = `metadata.annotations[${key}]`;
  if (key.startsWith(appArmorAnnotationPrefix)) yield forbidden(field, `may not ${verb} AppArmor annotations`);
  if (key === mirrorAnnotation) yield forbidden(field, `may not ${verb} mirror pod annotation`);
}

function* validateDeadlineUpdate(spec: PodSpec, before: PodSpec): Generator<Cause> {
  const [now, was] = [spec.activeDeadlineSeconds, before.activeDeadlineSeconds];
  if (now === undefined) {
    if (was === undefined) return;
    yield invalid('spec.activeDeadlineSeconds', orNull(now), 'must not update from a positive integer to nil value');
    return;
  }
  const faults = validateInRange(now, 0, maxInt32);
  if (faults.length > 0) yield* refusals('spec.activeDeadlineSeconds', now, faults);
  else if (was !== undefined && was < now) {
    yield invalid('spec.activeDeadlineSeconds', now, 'must be less than or equal to previous value');
  }
}

function* validateTolerationsUpdate({ tolerations = [] }: PodSpec, before: PodSpec): Generator<Cause> {
  for (const { tolerationSeconds: _, ...was } of before.tolerations ?? []) {
    const isKept = tolerations.some(({ tolerationSeconds: __, ...now }) => isSame(now, was));
    if (isKept) continue;
    const detail = 'existing toleration can not be modified except its tolerationSeconds';
    return yield forbidden('spec.tolerations', detail);
  }
  yield* validateTolerations(tolerations, 'spec.tolerations');
}

function* validateGatesUpdate({ schedulingGates = [] }: PodSpec, before: PodSpec): Generator<Cause> {
  const known = new Set((before.schedulingGates ?? []).map(({ name }) => name));
  for (const [index, { name }] of schedulingGates.entries()) {
    if (known.has(name)) continue;
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    yield forbidden(`spec.schedulingGates[${index}].name`, detail);
  }
}

/** While a Pod has scheduling gates, its node selector and affinity may be narrowed. */
function* validateGatedUpdate(spec: PodSpec, before: PodSpec): Generator<Cause> {
  const [now, was] = [spec.nodeSelector ?? {}, before.nodeSelector ?? {}];
  if (Object.keys(was).some((key) => now[key] !== was[key])) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    yield invalidStringMap('spec.nodeSelector', spec.nodeSelector, detail);
  }
  const [affinity, oldAffinity] = [spec.affinity?.nodeAffinity, before.affinity?.nodeAffinity];
  if (!isSame(affinity, oldAffinity))
    yield* validateNodeAffinityUpdate(affinity, oldAffinity, 'spec.affinity.nodeAffinity');
}

/** Terms are alternatives, so another term would widen the selection. Requirements within a term narrow it. */
export function* validateNodeAffinityUpdate(
  affinity: NodeAffinity | undefined,
  old: NodeAffinity | undefined,
  path: string,
): Generator<Cause> {
  const before = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const field = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  if (before.length === 0) return;
  if (before.length !== terms.length) {
    return yield invalidStructure(
      field,
      'core.NodeSelectorTerm',
      terms,
      'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
    );
  }
  for (const [index, term] of before.entries()) {
    if (isNarrower(terms[index]!, term)) continue;
    yield invalidStructure(
      `${field}[${index}]`,
      'core.NodeSelectorTerm',
      terms[index],
      'only additions are allowed (no mutations or deletions)',
    );
  }
}

function isNarrower(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const { matchExpressions = [], matchFields = [] } = old;
  // A term without requirements matches nothing, so any requirement would widen it.
  if (matchExpressions.length === 0 && matchFields.length === 0) return isSame(term, old);
  return (
    isSame((term.matchExpressions ?? []).slice(0, matchExpressions.length), matchExpressions) &&
    isSame((term.matchFields ?? []).slice(0, matchFields.length), matchFields)
  );
}

/** Returns the new spec with the old values of its mutable fields. */
function withoutMutable(spec: PodSpec, before: PodSpec, isGated: boolean): PodSpec {
  const withOldImages = (now: readonly Container[] = [], was: readonly Container[] = []) =>
    now.map((container, index) => withMember(container, 'image', was[index]?.image));
  let kept: PodSpec = { ...spec, containers: withOldImages(spec.containers ?? [], before.containers ?? []) };
  if (spec.initContainers)
    kept = { ...kept, initContainers: withOldImages(spec.initContainers, before.initContainers) };
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'] as const) {
    kept = withMember(kept, field, before[field]);
  }
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    kept = withMember(kept, 'terminationGracePeriodSeconds', before.terminationGracePeriodSeconds);
  }
  if (!isGated) return kept;
  kept = withMember(kept, 'nodeSelector', before.nodeSelector);
  const affinity = withMember(spec.affinity ?? {}, 'nodeAffinity', before.affinity?.nodeAffinity);
  const isNew = before.affinity === undefined && Object.keys(affinity).length === 0;
  return withMember(kept, 'affinity', isNew ? undefined : affinity);
}

function withMember<T extends object, K extends keyof T>(object: T, member: K, value: T[K] | undefined): T {
  const { [member]: _, ...rest } = object;
  // An undefined member is omitted. Only optional members are undefined.
  return (value === undefined ? rest : { ...rest, [member]: value }) as T;
}

/** Validates the status that a kubelet reports. */
export function* validatePodStatusUpdate(pod: Pod, old: Pod): Generator<Cause> {
  yield* validateKindMetaUpdate(pod.metadata, old.metadata);
  yield* validateAnnotationsUpdate(pod, old);
  const [spec, status, before] = [pod.spec ?? noSpec, pod.status ?? noStatus, old.status ?? noStatus];
  yield* validateConditions(status);
  if (spec.nodeName !== old.spec?.nodeName) yield forbidden('status.nodeName', 'may not be changed directly');
  const { nominatedNodeName: nominated, observedGeneration = 0 } = status;
  if (nominated && nominated !== before.nominatedNodeName) {
    yield* refusals('status.nominatedNodeName', nominated, validateDns1123Subdomain(nominated));
  }
  if (observedGeneration < 0) {
    yield invalid('status.observedGeneration', observedGeneration, 'must be a non-negative integer');
  }
  if (status.qosClass !== before.qosClass) yield invalid('status.qosClass', status.qosClass ?? '', isImmutable);
  yield* validateTransitions(status, before, old.spec ?? noSpec);
  yield* validateClaimStatuses(status, spec);
  yield* validateIPs(status.podIPs, 'status.podIPs');
  yield* validateHostIPs(status);
  for (const list of statusLists) yield* validateUsers(status[list], spec, `status.${list}`);
  yield* validateResourceHealth(status.containerStatuses, spec.containers ?? [], 'status.containerStatuses');
  yield* validateResourceHealth(
    status.initContainerStatuses,
    spec.initContainers ?? [],
    'status.initContainerStatuses',
  );
  for (const [index, { allocatedResourcesStatus }] of (status.ephemeralContainerStatuses ?? []).entries()) {
    if ((allocatedResourcesStatus ?? []).length === 0) continue;
    const field = `status.ephemeralContainerStatuses[${index}].allocatedResourcesStatus`;
    yield forbidden(field, 'must not be specified in container status');
  }
}

const statusLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;
const systemConditions = ['PodScheduled', 'Ready', 'Initialized'];

function* validateConditions({ conditions = [] }: PodStatus): Generator<Cause> {
  for (const [index, { type, observedGeneration = 0 }] of conditions.entries()) {
    const at = `status.conditions[${index}]`;
    if (observedGeneration < 0) {
      yield invalid(`${at}.observedGeneration`, observedGeneration, 'must be a non-negative integer');
    }
    if (!systemConditions.includes(type)) yield* refusals(`${at}.Type`, type, validateQualifiedName(type));
  }
}

/** A terminated container must not run again, unless its restart policy allows it. */
function* validateTransitions(status: PodStatus, before: PodStatus, spec: PodSpec): Generator<Cause> {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  for (const list of statusLists) {
    const policy = list === 'ephemeralContainerStatuses' ? 'Never' : spec.restartPolicy;
    if (policy === 'Always') continue;
    for (const [index, { name, state }] of (before[list] ?? []).entries()) {
      if (!state?.terminated || (state.terminated.exitCode !== 0 && policy === 'OnFailure')) continue;
      if (list === 'initContainerStatuses' && sidecars.has(name)) continue;
      for (const now of status[list] ?? []) {
        if (now.name !== name || now.state?.terminated) continue;
        yield forbidden(`status.${list}[${index}].state`, 'may not be transitioned to non-terminated state');
      }
    }
  }
}

function* validateClaimStatuses({ resourceClaimStatuses = [] }: PodStatus, spec: PodSpec): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, { name, resourceClaimName }] of resourceClaimStatuses.entries()) {
    const field = `status.resourceClaimStatuses[${index}].name`;
    if (!(spec.resourceClaims ?? []).some((claim) => claim.name === name)) {
      yield invalid(field, name, 'must match the name of an entry in `spec.resourceClaims`');
    }
    if (seen.has(name)) yield duplicate(field, name);
    seen.add(name);
    if (resourceClaimName !== undefined) {
      yield* refusals(field, resourceClaimName, validateDns1123Subdomain(resourceClaimName));
    }
  }
}

function* validateHostIPs({ hostIP = '', hostIPs = [] }: PodStatus): Generator<Cause> {
  const [first] = hostIPs;
  if (first && first.ip !== hostIP) yield invalid('status.hostIPs[0].ip', first.ip, 'must be equal to `hostIP`');
  yield* validateIPs(hostIPs, 'status.hostIPs');
}

/** Validates that there is at most one address of each family. */
function* validateIPs(addresses: readonly { readonly ip: string }[] = [], path: string): Generator<Cause> {
  for (const [index, { ip }] of addresses.entries()) yield* validateIP(ip, `${path}[${index}]`);
  if (addresses.length < 2) return;
  const families = addresses.map(({ ip }) => parseLegacyAddress(ip)?.family);
  const wrong = families.indexOf(undefined);
  if (wrong >= 0) {
    const detail = `failed to check for dual stack with error:invalid IP[${wrong}]: ParseAddr(${quote(addresses[wrong]!.ip)}): unable to parse IP`;
    yield internal(path, detail);
  }
  if (addresses.length > 2 || wrong >= 0 || families[0] === families[1]) {
    yield invalidStructure(path, 'core.PodIP', addresses, 'may specify no more than one IP for each IP family');
  }
}

function* validateUsers(statuses: PodStatus['containerStatuses'], spec: PodSpec, path: string): Generator<Cause> {
  const os = spec.os?.name ?? 'linux';
  for (const [index, { user }] of (statuses ?? []).entries()) {
    if (!user?.linux) continue;
    const at = `${path}[${index}].user.linux`;
    if (os === 'windows') yield forbidden(at, 'cannot be set for a windows pod');
    if (os !== 'linux') continue;
    const { uid, gid, supplementalGroups } = user.linux;
    yield* refusals(`${at}.uid`, uid, validateUserId(uid));
    yield* refusals(`${at}.gid`, gid, validateGroupId(gid));
    for (const [position, group] of (supplementalGroups ?? []).entries()) {
      yield* refusals(`${at}.supplementalGroups[${position}]`, group, validateGroupId(group));
    }
  }
}

const healths = ['Healthy', 'Unhealthy', 'Unknown'];

function* validateResourceHealth(
  statuses: readonly ContainerStatus[] | undefined,
  containers: readonly Container[],
  path: string,
): Generator<Cause> {
  for (const [index, { name, allocatedResourcesStatus }] of (statuses ?? []).entries()) {
    const container = containers.find((each) => each.name === name);
    for (const [position, resource] of (allocatedResourcesStatus ?? []).entries()) {
      const at = `${path}[${index}].allocatedResourcesStatus[${position}]`;
      if (container) yield* validateAllocated(resource.name, container, `${at}.name`);
      const seen = new Set<string>();
      for (const [place, { resourceID, health = '' }] of (resource.resources ?? []).entries()) {
        if (!healths.includes(health)) yield notSupported(`${at}.resources[${place}].health`, health, healths);
        if (seen.has(resourceID)) yield duplicate(`${at}.resources[${place}].resourceID`, resourceID);
        seen.add(resourceID);
      }
    }
  }
}

function* validateAllocated(name: string, { resources }: Container, path: string): Generator<Cause> {
  if (name.startsWith('claim:')) {
    const claims = (resources?.claims ?? []).map(
      (claim) => `claim:${claim.name}${claim.request ? `/${claim.request}` : ''}`,
    );
    if (claims.includes(name)) return;
    const detail =
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
    yield invalidBare(path, name, detail);
  } else if (!Object.hasOwn(resources?.requests ?? {}, name)) {
    yield invalidBare(path, name, "must match one of the container's resource requests");
  }
}

/** Ephemeral containers may be added, and are immutable afterwards. */
export function* validatePodEphemeralContainersUpdate(pod: Pod, old: Pod): Generator<Cause> {
  if (isMirror(old)) return yield forbidden('', 'static pods do not support ephemeral containers');
  yield* validateKindMetaUpdate(pod.metadata, old.metadata);
  yield* validateMetadataAndSpec(pod);
  yield* validateAnnotationsUpdate(pod, old);
  const now = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const container of old.spec?.ephemeralContainers ?? []) {
    const same = now.get(container.name);
    const named = `existing ephemeral containers ${quote(container.name)}`;
    if (!same) yield forbidden('spec.ephemeralContainers', `${named} may not be removed\n`);
    else if (!isSame(same, container)) yield forbidden('spec.ephemeralContainers', `${named} may not be changed`);
  }
}

function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/** Validates a resize of a Pod's containers. */
export function* validatePodResize(pod: Pod, old: Pod): Generator<Cause> {
  const [spec, before] = [pod.spec ?? noSpec, old.spec ?? noSpec];
  if ([spec, before].some(({ resources }) => resources?.requests || resources?.limits)) {
    return yield forbidden('', 'pods with pod-level resources cannot be resized');
  }
  if (isMirror(old)) return yield forbidden('', 'static pods cannot be resized');
  if (before.os?.name === 'windows') return yield forbidden('', 'windows pods cannot be resized');
  let isFaulty = false;
  for (const cause of validateResizedSpec(pod, old, spec, before)) {
    isFaulty = true;
    yield cause;
  }
  if (isFaulty) return;
  const keep = (now: readonly Container[] = [], was: readonly Container[] = []) => now.map((_, index) => was[index]!);
  const rest: PodSpec = { ...spec, containers: keep(spec.containers, before.containers) };
  const whole = spec.initContainers
    ? { ...rest, initContainers: keep(spec.initContainers, before.initContainers) }
    : rest;
  if (!isSame(whole, before)) yield forbidden('spec', 'only cpu and memory resources are mutable');
}

function* validateResizedSpec(pod: Pod, old: Pod, spec: PodSpec, before: PodSpec): Generator<Cause> {
  yield* validateKindMetaUpdate(pod.metadata, old.metadata);
  yield* validateMetadataAndSpec(pod);
  if ((old.status?.qosClass || computeQosClass(before)) !== computeQosClass(spec)) {
    yield invalid('spec', pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
  }
  if (!canResize(old.status)) yield forbidden('spec', 'Pod running on node without support for resize');
  const orderFaults = [
    ...validateSameContainers(spec, before, 'containers'),
    ...validateSameContainers(spec, before, 'initContainers'),
  ];
  if (orderFaults.length > 0) return yield* orderFaults;
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (before[list] ?? []).entries()) {
      if (list === 'initContainers' && !isSidecar(container)) continue;
      yield* validateContainerResize(spec[list]![index]!, container, `spec.${list}[${index}].resources`);
    }
  }
  yield* validateOnlyResized(spec, before);
}

/** Reports whether the kubelet supports resizing: then it reports the resources of running containers. */
function canResize({ containerStatuses = [] }: PodStatus = {}): boolean {
  const running = containerStatuses.find(({ state }) => state?.running);
  return running === undefined || running.resources !== undefined;
}

function* validateSameContainers(
  spec: PodSpec,
  before: PodSpec,
  list: 'containers' | 'initContainers',
): Generator<Cause> {
  const [now, was] = [spec[list] ?? [], before[list] ?? []];
  if (now.length !== was.length)
    return yield forbidden(`spec.${list}`, `${list} may not be added or removed on resize`);
  for (const [index, { name }] of was.entries()) {
    if (now[index]!.name === name) continue;
    yield forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`);
  }
}

function* validateContainerResize(container: Container, old: Container, path: string): Generator<Cause> {
  const [{ requests = {}, limits = {} }, before] = [container.resources ?? {}, old.resources ?? {}];
  if (isAnyRemoved(requests, before.requests))
    yield forbidden(`${path}.requests`, 'resource requests cannot be removed');
  if (isAnyRemoved(limits, before.limits)) yield forbidden(`${path}.limits`, 'resource limits cannot be removed');
  const policy = container.resizePolicy?.find(({ resourceName }) => resourceName === 'memory')?.restartPolicy;
  if (policy && policy !== 'NotRequired') return;
  const [now, was] = [limits['memory'], before.limits?.['memory']];
  if (now === undefined) return;
  const field = `${path}.limits[memory]`;
  if (was === undefined)
    yield forbidden(field, 'memory limits cannot be added unless resizePolicy is RestartContainer');
  else if (compareQuantities(parseQuantity(now), parseQuantity(was)) < 0) {
    yield forbidden(field, 'memory limits cannot be decreased unless resizePolicy is RestartContainer');
  }
}

type ResourceList = { readonly [name: string]: string };

function isAnyRemoved(now: ResourceList, was: ResourceList = {}): boolean {
  return Object.keys(was).some((name) => !Object.hasOwn(now, name));
}

function* validateOnlyResized(spec: PodSpec, before: PodSpec): Generator<Cause> {
  for (const [index, container] of (spec.containers ?? []).entries()) {
    if (isOnlyResized(container, before.containers[index]!)) continue;
    yield forbidden('spec', 'only cpu and memory resources are mutable');
  }
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const was = before.initContainers![index]!;
    if (!isSidecar(container)) {
      if (isSame(container, was)) continue;
      yield forbidden('spec', 'resources for non-sidecar init containers are immutable');
    } else if (!isOnlyResized(container, was)) {
      yield forbidden('spec', 'only cpu and memory resources for sidecar containers are mutable');
    }
  }
}

function isOnlyResized(container: Container, old: Container): boolean {
  const { resources, ...now } = container;
  const { resources: oldResources, ...was } = old;
  return (
    isSame(now, was) && isSame(otherResources(resources, oldResources), otherResources(oldResources, oldResources))
  );
}

/** Returns the resources other than CPU and memory. Lists that were missing before are not compared. */
function otherResources({ limits, requests }: ResourceRequirements = {}, old: ResourceRequirements = {}): unknown {
  const others = ({ cpu: _, memory: __, ...rest }: ResourceList = {}) => rest;
  return { limits: old.limits ? others(limits) : {}, requests: old.requests ? others(requests) : {} };
}
