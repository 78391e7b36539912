import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { parseJson } from '@kruise/schema/json-text';
import { parseLegacyAddress } from '@kruise/values/address';
import {
  validateDns1123Label,
  validateDns1123Subdomain,
  validateDns1123SubdomainWithUnderscore,
  validateInRange,
  validateQualifiedName,
} from '@kruise/values/names';
import { invalidStructure } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { validateAnnotations, validateLabelKey, validateLabels } from '../meta/labels.validate.ts';
import { oneOf, positive, refusals } from '../meta/value.validate.ts';
import { validateAffinity } from './affinity.validate.ts';
import { validateContainers, validateEphemeralContainers, validateInitContainers } from './container.validate.ts';
import { containersOf } from './pod-containers.ts';
import type {
  HostAlias,
  PodDNSConfig,
  PodResourceClaim,
  PodSchedulingGate,
  PodSpec,
  TopologySpreadConstraint,
} from './pod-spec.ts';
import type { PodTemplateSpec } from './pod-template.ts';
import { validateOverhead } from './resources.validate.ts';
import type { SecurityContext } from './security-context.ts';
import {
  validatePodSecurityContext,
  validateProfileAnnotations,
  validateProfilesMatch,
} from './security-context.validate.ts';
import type { Toleration } from './toleration.ts';
import { validateTolerations } from './toleration.validate.ts';
import { validateVolumes } from './volume.validate.ts';

export const mirrorAnnotation = 'kubernetes.io/config.mirror';
const tolerationsAnnotation = 'scheduler.alpha.kubernetes.io/tolerations';
const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const maxInt32 = 2 ** 31 - 1;

type StringMap = { readonly [key: string]: string };

/** The Pod of a spec; absent if the spec is that of a template. */
export type PodIdentity = { readonly name?: string; readonly annotations?: StringMap };

export function* validatePodTemplateSpec(template: PodTemplateSpec, path: string): Generator<Cause> {
  const { metadata = {}, spec = { containers: [] } } = template;
  yield* validateLabels(metadata.labels, `${path}.labels`);
  yield* validateAnnotations(metadata.annotations, `${path}.annotations`);
  yield* validatePodAnnotations(metadata.annotations, spec, `${path}.annotations`);
  yield* validatePodSpec(spec, undefined, `${path}.spec`);
  yield* validateProfilesMatch(metadata.annotations, spec, `${path}.spec`);
  if ((spec.ephemeralContainers ?? []).length > 0) {
    yield forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template');
  }
}

/** Validates annotations with a meaning for Pods. */
export function* validatePodAnnotations(
  annotations: StringMap | undefined,
  spec: PodSpec,
  path: string,
): Generator<Cause> {
  if (annotations === undefined) return;
  const mirror = annotations[mirrorAnnotation];
  if (mirror !== undefined && !spec.nodeName) {
    yield invalid(`${path}[${mirrorAnnotation}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set');
  }
  const tolerations = annotations[tolerationsAnnotation];
  if (tolerations) yield* validateTolerationsText(tolerations, path);
  const cost = annotations[deletionCostAnnotation];
  if (cost !== undefined && !isDeletionCost(cost)) {
    yield invalid(`${path}[${deletionCostAnnotation}]`, cost, 'must be a 32bit integer');
  }
  yield* validateProfileAnnotations(annotations, spec, path);
}

function* validateTolerationsText(text: string, path: string): Generator<Cause> {
  let tolerations: unknown;
  try {
    tolerations = parseJson(text);
  } catch (error) {
    return yield invalid(path, tolerationsAnnotation, (error as Error).message);
  }
  if (Array.isArray(tolerations)) {
    yield* validateTolerations(tolerations as readonly Toleration[], `${path}.${tolerationsAnnotation}`);
  }
}

function isDeletionCost(text: string): boolean {
  return /^(?:0|-?[1-9][0-9]{0,9}|-0+)$/.test(text) && Number(text) === (Number(text) | 0);
}

export function* validatePodSpec(spec: PodSpec, pod: PodIdentity | undefined, path: string): Generator<Cause> {
  if (spec.terminationGracePeriodSeconds === undefined) yield required(`${path}.terminationGracePeriodSeconds`);
  const volumes = yield* validateVolumes(spec.volumes ?? [], pod?.name, `${path}.volumes`);
  const claims = spec.resourceClaims ?? [];
  const claimNames = new Set(claims.map(({ name }) => name).filter((name) => name !== ''));
  if (spec.resourceClaims) yield* validateResourceClaims(claims, pod, `${path}.resourceClaims`);
  const surroundings = { spec, volumes, claimNames };
  yield* validateContainers(surroundings, `${path}.containers`);
  if (spec.initContainers) yield* validateInitContainers(surroundings, `${path}.initContainers`);
  if (spec.ephemeralContainers) yield* validateEphemeralContainers(surroundings, `${path}.ephemeralContainers`);
  if (spec.hostNetwork) yield* validateHostPorts(spec, pod !== undefined, path);
  yield* validatePolicies(spec, path);
  if (spec.nodeSelector) yield* validateLabels(spec.nodeSelector, `${path}.nodeSelector`);
  yield* validatePodSecurityContext(spec, `${path}.securityContext`);
  if (spec.affinity) yield* validateAffinity(spec.affinity, `${path}.affinity`);
  yield* validateDNSConfig(spec.dnsConfig, spec.dnsPolicy, `${path}.dnsConfig`);
  for (const [index, { conditionType }] of (spec.readinessGates ?? []).entries()) {
    yield* refusals(
      `${path}.readinessGates[${index}].conditionType`,
      conditionType,
      validateQualifiedName(conditionType),
    );
  }
  const { schedulingGates, topologySpreadConstraints } = spec;
  if (schedulingGates) yield* validateSchedulingGates(schedulingGates, `${path}.schedulingGates`);
  if (topologySpreadConstraints) {
    yield* validateTopologySpread(topologySpreadConstraints, `${path}.topologySpreadConstraints`);
  }
  if (usesWindowsOptions(spec)) yield* validateHostProcesses(spec, path);
  if (spec.hostUsers === false) yield* validateHostUsers(spec, path);
  yield* validateNames(spec, path);
  if (spec.overhead) yield* validateOverhead(spec.overhead, `${path}.overhead`);
  if (spec.os) yield* validateOS(spec, spec.os.name, path);
}

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

function* validatePolicies({ restartPolicy, dnsPolicy }: PodSpec, path: string): Generator<Cause> {
  if (restartPolicy) yield* oneOf(`${path}.restartPolicy`, restartPolicy, restartPolicies);
  else yield required(`${path}.restartPolicy`);
  if (dnsPolicy) yield* oneOf(`${path}.dnsPolicy`, dnsPolicy, dnsPolicies);
  else yield required(`${path}.dnsPolicy`);
}

/** Validates references by name, and the scalar fields between them. */
function* validateNames(spec: PodSpec, path: string): Generator<Cause> {
  const { serviceAccountName, nodeName, activeDeadlineSeconds, hostname, subdomain, preemptionPolicy } = spec;
  if (serviceAccountName) {
    yield* refusals(`${path}.serviceAccountName`, serviceAccountName, validateDns1123Subdomain(serviceAccountName));
  }
  if (nodeName) yield* refusals(`${path}.nodeName`, nodeName, validateDns1123Subdomain(nodeName));
  if (activeDeadlineSeconds !== undefined) {
    const faults = validateInRange(activeDeadlineSeconds, 1, maxInt32);
    yield* refusals(`${path}.activeDeadlineSeconds`, activeDeadlineSeconds, faults);
  }
  if (hostname) yield* refusals(`${path}.hostname`, hostname, validateDns1123Label(hostname));
  if (subdomain) yield* refusals(`${path}.subdomain`, subdomain, validateDns1123Label(subdomain));
  if (spec.tolerations) yield* validateTolerations(spec.tolerations, `${path}.tolerations`);
  if (spec.hostAliases) yield* validateHostAliases(spec.hostAliases, `${path}.hostAliases`);
  const { priorityClassName, runtimeClassName } = spec;
  if (priorityClassName) {
    yield* refusals(`${path}.priorityClassName`, priorityClassName, validateDns1123Subdomain(priorityClassName));
  }
  if (runtimeClassName !== undefined) {
    yield* refusals(`${path}.runtimeClassName`, runtimeClassName, validateDns1123Subdomain(runtimeClassName));
  }
  if (preemptionPolicy !== undefined) yield* validatePreemptionPolicy(preemptionPolicy, `${path}.preemptionPolicy`);
}

export function* validatePreemptionPolicy(policy: string, path: string): Generator<Cause> {
  if (policy) yield* oneOf(path, policy, ['PreemptLowerPriority', 'Never']);
  else yield required(path);
}

function* validateResourceClaims(
  claims: readonly PodResourceClaim[],
  pod: PodIdentity | undefined,
  path: string,
): Generator<Cause> {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (pod?.annotations?.[mirrorAnnotation] !== undefined) {
      yield forbidden('', 'static pods do not support resource claims');
      continue;
    }
    const at = `${path}[${index}]`;
    const { name, resourceClaimName: claimName, resourceClaimTemplateName: templateName } = claim;
    if (!name) yield required(`${at}.name`);
    else if (names.has(name)) yield duplicate(`${at}.name`, name);
    else yield* refusals(`${at}.name`, name, validateDns1123Label(name));
    names.add(name);
    if (claimName !== undefined && templateName !== undefined) {
      yield invalidStructure(
        at,
        'core.PodResourceClaim',
        claim,
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      );
    }
    if (claimName === undefined && templateName === undefined) {
      yield invalidStructure(
        at,
        'core.PodResourceClaim',
        claim,
        'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      );
    }
    if (claimName !== undefined) {
      yield* refusals(`${at}.resourceClaimName`, claimName, validateDns1123Subdomain(claimName));
    }
    if (templateName !== undefined) {
      yield* refusals(`${at}.resourceClaimTemplateName`, templateName, validateDns1123Subdomain(templateName));
    }
  }
}

/** With hostNetwork, ports must equal host ports. A template may omit the host port, because Pods get it by default. */
function* validateHostPorts({ containers }: PodSpec, isPod: boolean, path: string): Generator<Cause> {
  for (const [index, { ports }] of (containers ?? []).entries()) {
    for (const [position, { hostPort = 0, containerPort }] of (ports ?? []).entries()) {
      if (hostPort === containerPort || (!isPod && hostPort === 0)) continue;
      const field = `${path}.containers[${index}].ports[${position}].hostPort`;
      yield invalid(field, hostPort, 'must match `containerPort` when `hostNetwork` is true');
    }
  }
}

const maxNameservers = 3;
const maxSearches = 32;
const maxSearchCharacters = 2048;

function* validateDNSConfig(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  path: string,
): Generator<Cause> {
  if (policy === 'None' && config === undefined) {
    return yield required(path, 'must provide `dnsConfig` when `dnsPolicy` is None');
  }
  if (config === undefined) return;
  const { nameservers = [], searches = [], options = [] } = config;
  if (policy === 'None' && nameservers.length === 0) {
    const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    return yield required(`${path}.nameservers`, detail);
  }
  if (nameservers.length > maxNameservers) {
    yield invalid(`${path}.nameservers`, nameservers, `must not have more than ${maxNameservers} nameservers`);
  }
  for (const [index, server] of nameservers.entries()) yield* validateIP(server, `${path}.nameservers[${index}]`);
  if (searches.length > maxSearches) {
    yield invalid(`${path}.searches`, searches, `must not have more than ${maxSearches} search paths`);
  }
  if (Buffer.byteLength(searches.join(' ')) > maxSearchCharacters) {
    const detail = `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`;
    yield invalid(`${path}.searches`, searches, detail);
  }
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue;
    const name = search.replace(/\.$/, '');
    yield* refusals(`${path}.searches[${index}]`, name, validateDns1123SubdomainWithUnderscore(name));
  }
  for (const [index, { name }] of options.entries()) {
    if (!name) yield required(`${path}.options[${index}]`, 'must not be empty');
  }
}

/** Validates an address in a field that has always accepted leading zeroes and similar spellings. */
export function validateIP(address: string, path: string): readonly Cause[] {
  if (parseLegacyAddress(address) !== undefined) return [];
  return [invalid(path, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

function* validateHostAliases(aliases: readonly HostAlias[], path: string): Generator<Cause> {
  for (const [index, { ip, hostnames }] of aliases.entries()) {
    yield* validateIP(ip, `${path}[${index}].ip`);
    for (const [position, hostname] of (hostnames ?? []).entries()) {
      yield* refusals(`${path}[${index}].hostnames[${position}]`, hostname, validateDns1123Subdomain(hostname));
    }
  }
}

function* validateSchedulingGates(gates: readonly PodSchedulingGate[], path: string): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, { name }] of gates.entries()) {
    yield* refusals(`${path}[${index}]`, name, validateQualifiedName(name));
    if (seen.has(name)) yield duplicate(`${path}[${index}]`, name);
    seen.add(name);
  }
}

const nodePolicies = ['Honor', 'Ignore'];

function* validateTopologySpread(constraints: readonly TopologySpreadConstraint[], path: string): Generator<Cause> {
  for (const [index, constraint] of constraints.entries()) {
    const at = `${path}[${index}]`;
    const { topologyKey, whenUnsatisfiable, minDomains, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
    yield* positive(`${at}.maxSkew`, constraint.maxSkew);
    if (!topologyKey) yield required(`${at}.topologyKey`, 'can not be empty');
    yield* oneOf(`${at}.whenUnsatisfiable`, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']);
    const isRepeated = constraints
      .slice(index + 1)
      .some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable);
    if (isRepeated) {
      yield duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`);
    }
    if (minDomains !== undefined) {
      yield* positive(`${at}.minDomains`, minDomains);
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
        yield invalid(`${at}.minDomains`, minDomains, detail);
      }
    }
    if (nodeAffinityPolicy !== undefined) yield* oneOf(`${at}.nodeAffinityPolicy`, nodeAffinityPolicy, nodePolicies);
    if (nodeTaintsPolicy !== undefined) yield* oneOf(`${at}.nodeTaintsPolicy`, nodeTaintsPolicy, nodePolicies);
    yield* validateSpreadLabelKeys(constraint, `${at}.matchLabelKeys`);
    yield* validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`);
  }
}

function* validateSpreadLabelKeys(constraint: TopologySpreadConstraint, path: string): Generator<Cause> {
  const { matchLabelKeys = [], labelSelector } = constraint;
  if (matchLabelKeys.length === 0) return;
  if (!labelSelector) yield forbidden(path, 'must not be specified when labelSelector is not set');
  const selected = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
  for (const [index, key] of matchLabelKeys.entries()) {
    yield* validateLabelKey(key, `${path}[${index}]`);
    if (selected.has(key)) {
      yield invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector');
    }
  }
}

function usesWindowsOptions({
  securityContext,
  initContainers = [],
  containers,
  ephemeralContainers = [],
}: PodSpec): boolean {
  const has = (part: { readonly securityContext?: SecurityContext }) =>
    part.securityContext?.windowsOptions !== undefined;
  if (securityContext?.windowsOptions) return true;
  return (containers ?? []).some(has) || initContainers.some(has) || ephemeralContainers.some(has);
}

/** On Windows, either all containers are HostProcess containers on the host network, or none is. */
function* validateHostProcesses(spec: PodSpec, path: string): Generator<Cause> {
  const shared = spec.securityContext?.windowsOptions?.hostProcess;
  let total = 0;
  let onHost = 0;
  for (const [{ securityContext }, at] of containersOf(spec, path)) {
    total++;
    const own = securityContext?.windowsOptions?.hostProcess;
    if (shared !== undefined && own !== undefined && shared !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${shared}`;
      yield invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, detail);
    }
    if (own ?? shared) onHost++;
  }
  if (onHost === 0) return;
  if (onHost !== total) {
    const detail = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    yield invalid(path, '', detail);
  }
  if (!spec.hostNetwork) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
    yield invalid(`${path}.hostNetwork`, false, detail);
  }
}

/** User namespaces cannot be combined with host namespaces. */
function* validateHostUsers(spec: PodSpec, path: string): Generator<Cause> {
  const detail = 'when `pod.Spec.HostUsers` is false';
  if (spec.hostNetwork) yield forbidden(`${path}.hostNetwork`, detail);
  if (spec.hostPID) yield forbidden(`${path}.HostPID`, detail);
  if (spec.hostIPC) yield forbidden(`${path}.HostIPC`, detail);
}

function* validateOS(spec: PodSpec, name: string, path: string): Generator<Cause> {
  if (!name) yield required(`${path}.os.name`, 'cannot be empty');
  else if (name === 'linux')
    yield* validateUnset(spec, path, onlyWindows, 'windows options cannot be set for a linux pod');
  else if (name === 'windows') yield* validateUnset(spec, path, onlyLinux, 'cannot be set for a windows pod');
  else yield notSupported(`${path}.os`, name, ['linux', 'windows']);
}

/** Fields of one operating system: paths in the security context of the Pod or of a container, or in the Pod spec. */
type Fields = { readonly pod: readonly string[]; readonly container: readonly string[] };

const onlyWindows: Fields = { pod: ['securityContext.windowsOptions'], container: ['windowsOptions'] };
const onlyLinux: Fields = {
  pod: [
    'securityContext.appArmorProfile',
    'securityContext.seLinuxOptions',
    'hostUsers',
    'hostPID',
    'hostIPC',
    'securityContext.seccompProfile',
    'securityContext.fsGroup',
    'securityContext.fsGroupChangePolicy',
    'securityContext.sysctls',
    'shareProcessNamespace',
    'securityContext.runAsUser',
    'securityContext.runAsGroup',
    'securityContext.supplementalGroups',
    'securityContext.supplementalGroupsPolicy',
    'securityContext.seLinuxChangePolicy',
  ],
  container: [
    'appArmorProfile',
    'seLinuxOptions',
    'seccompProfile',
    'capabilities',
    'readOnlyRootFilesystem',
    'privileged',
    'allowPrivilegeEscalation',
    'procMount',
    'runAsUser',
    'runAsGroup',
  ],
};

function* validateUnset(spec: PodSpec, path: string, fields: Fields, detail: string): Generator<Cause> {
  for (const field of fields.pod) if (isSet(spec, field)) yield forbidden(`${path}.${field}`, detail);
  for (const [{ securityContext }, at] of containersOf(spec, path)) {
    if (securityContext === undefined) continue;
    for (const field of fields.container) {
      if (isSet(securityContext, field)) yield forbidden(`${at}.securityContext.${field}`, detail);
    }
  }
}

function isSet(object: object, path: string): boolean {
  let value: unknown = object;
  for (const name of path.split('.')) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  // The fields of host namespaces are not pointers: false equals absent, except for `hostUsers`.
  return value !== undefined && !(value === false && (path === 'hostPID' || path === 'hostIPC'));
}
