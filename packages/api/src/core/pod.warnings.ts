/** Warnings about Pods and Pod templates: fields that are allowed, but probably not intended or deprecated. */

import { formatAddress, isAddress, parseAddress, parseLegacyAddress, unmap } from '@kruise/values/address';
import { formatList, quote } from '@kruise/values/go-syntax';
import { validateDns1123Label, validateLabelValue } from '@kruise/values/names';
import { trimTrailing } from '@kruise/values/trim';
import type { Affinity, NodeSelectorTerm, PodAffinity } from './affinity.ts';
import type { Container, ContainerPort, EphemeralContainer } from './container.ts';
import type { PersistentVolumeClaimSpec } from './persistentvolumeclaim.ts';
import type { Pod } from './pod.ts';
import { containersOf } from './pod-containers.ts';
import type { PodSpec } from './pod-spec.ts';
import type { PodTemplateSpec } from './pod-template.ts';
import { isWholeQuantity } from './resources.validate.ts';
import { appArmorAnnotationPrefix, seccompContainerPrefix, seccompPodAnnotation } from './security-context.validate.ts';
import type { ProjectedVolumeSource, Volume, VolumeProjection } from './volume.ts';

type StringMap = { readonly [key: string]: string };

/** Yields the warnings for a Pod at its creation. */
export function* podWarnings({ metadata, spec = { containers: [] } }: Pod): Generator<string> {
  const faults = validateDns1123Label(metadata.name ?? '');
  if (faults.length > 0) {
    yield `metadata.name: this is used in the Pod's hostname, ${surprising(faults)}`;
  }
  yield* specWarnings(spec, metadata.annotations ?? {}, '');
}

/** Yields the warnings for a template. */
export function* podTemplateWarnings(template: PodTemplateSpec | undefined, path: string): Generator<string> {
  if (template?.spec) yield* specWarnings(template.spec, template.metadata?.annotations ?? {}, `${path}.`);
}

/** Yields the warnings for the name of an object that Pods are named after. */
export function* podOwnerNameWarnings(name: string | undefined): Generator<string> {
  const faults = validateDns1123Label(name ?? '');
  if (faults.length > 0) yield `metadata.name: this is used in Pod names and hostnames, ${surprising(faults)}`;
}

function surprising(faults: readonly string[]): string {
  return `which can result in surprising behavior; a DNS label is recommended: ${formatList(faults)}`;
}

const deprecatedNodeLabels: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);
const deprecatedAnnotations: readonly (readonly [name: string, message: string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];
const deprecatedVolumes: readonly (readonly [member: keyof Volume, path: string, message: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function* specWarnings(spec: PodSpec, annotations: StringMap, prefix: string): Generator<string> {
  const path = `${prefix}spec`;
  const annotationPath = (name: string) => `${prefix}metadata.annotations[${name}]`;
  yield* schedulingWarnings(spec, path);
  for (const [name, message] of deprecatedAnnotations) {
    if (annotations[name] !== undefined) yield `${annotationPath(name)}: ${message}`;
  }
  yield* volumeWarnings(spec.volumes ?? [], `${path}.volumes`);
  yield* repetitionWarnings(spec, path);
  yield* fractionWarnings(spec.overhead, `${path}.overhead`);
  const seccompMessage = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  if (!spec.securityContext?.seccompProfile && annotations[seccompPodAnnotation] !== undefined) {
    yield `${annotationPath(seccompPodAnnotation)}: ${seccompMessage}`;
  }
  const hasAppArmor = spec.securityContext?.appArmorProfile !== undefined;
  for (const [container, at] of containersOf(spec, path)) {
    const { name, securityContext, resources } = container;
    const seccomp = seccompContainerPrefix + name;
    if (!securityContext?.seccompProfile && annotations[seccomp] !== undefined) {
      yield `${annotationPath(seccomp)}: ${seccompMessage}`;
    }
    // For Pods, this warning is issued when the annotation is converted to the field.
    const appArmor = appArmorAnnotationPrefix + name;
    if (prefix && !hasAppArmor && !securityContext?.appArmorProfile && annotations[appArmor] !== undefined) {
      yield `${annotationPath(appArmor)}: deprecated since v1.30; use the "appArmorProfile" field instead`;
    }
    for (const resource of ['memory', 'ephemeral-storage']) {
      yield* fractionWarning(resources?.limits, resource, `${at}.resources.limits`);
      yield* fractionWarning(resources?.requests, resource, `${at}.resources.requests`);
    }
    yield* environmentWarnings(container, at);
  }
  yield* portWarnings(spec, path);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    yield `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`;
  }
  if (spec.affinity) yield* podAffinityWarnings(spec.affinity, `${path}.affinity`);
  for (const [index, server] of (spec.dnsConfig?.nameservers ?? []).entries()) {
    yield* addressWarnings(server, `${path}.dnsConfig.nameservers[${index}]`);
  }
  for (const [index, { ip }] of (spec.hostAliases ?? []).entries()) {
    yield* addressWarnings(ip, `${path}.hostAliases[${index}].ip`);
  }
}

function* schedulingWarnings(spec: PodSpec, path: string): Generator<string> {
  for (const key in spec.nodeSelector) {
    const message = deprecatedNodeLabels.get(key);
    if (message !== undefined) yield `${path}.nodeSelector[${key}]: ${message}`;
  }
  const nodes = spec.affinity?.nodeAffinity;
  const at = `${path}.affinity.nodeAffinity`;
  const required = nodes?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const [index, term] of required.entries()) {
    const field = `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`;
    yield* nodeTermWarnings(term, field);
  }
  for (const [index, { preference }] of (nodes?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const field = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`;
    yield* nodeTermWarnings(preference, field, { values: true });
  }
  for (const [index, { topologyKey, labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    const field = `${path}.topologySpreadConstraints[${index}]`;
    const message = deprecatedNodeLabels.get(topologyKey);
    if (message !== undefined) yield `${field}.topologyKey: ${topologyKey} is ${message}`;
    if (!labelSelector) yield `${field}.labelSelector: ${matchesNone}`;
  }
}

const matchesNone = 'a null labelSelector results in matching no pod';

/** Yields the warnings for a node selector term with deprecated labels. */
export function* nodeTermWarnings(
  { matchExpressions }: NodeSelectorTerm,
  path: string,
  check: { readonly values?: boolean } = {},
): Generator<string> {
  for (const [index, { key, values }] of (matchExpressions ?? []).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    const message = deprecatedNodeLabels.get(key);
    if (message !== undefined) yield `${at}.key: ${key} is ${message}`;
    if (!check.values) continue;
    for (const [position, value] of (values ?? []).entries()) {
      for (const fault of validateLabelValue(value)) yield `${at}.values[${position}]: ${value} is invalid, ${fault}`;
    }
  }
}

function* podAffinityWarnings({ podAffinity, podAntiAffinity }: Affinity, path: string): Generator<string> {
  if (podAffinity) yield* podTermWarnings(podAffinity, `${path}.podAffinity`);
  if (podAntiAffinity) yield* podTermWarnings(podAntiAffinity, `${path}.podAntiAffinity`);
}

function* podTermWarnings(affinity: PodAffinity, path: string): Generator<string> {
  for (const [index, term] of (affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    if (term.labelSelector) continue;
    yield `${path}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector: ${matchesNone}`;
  }
  for (const [index, term] of (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    if (term.podAffinityTerm.labelSelector) continue;
    const field = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector`;
    yield `${field}: ${matchesNone}`;
  }
}

function* volumeWarnings(volumes: readonly Volume[], path: string): Generator<string> {
  for (const [index, volume] of volumes.entries()) {
    for (const [member, called, message] of deprecatedVolumes) {
      if (volume[member] !== undefined) yield `${path}[${index}].${called}: ${message}`;
    }
    const claim = volume.ephemeral?.volumeClaimTemplate;
    if (claim) yield* claimSpecWarnings(claim.spec, `${path}[${index}].ephemeral.volumeClaimTemplate.spec`);
  }
  for (const volume of volumes) yield* overlapWarnings(volume);
}

/** Yields the warnings for the spec of a PVC. */
export function* claimSpecWarnings({ resources }: PersistentVolumeClaimSpec, path: string): Generator<string> {
  yield* fractionWarning(resources?.requests, 'storage', `${path}.resources.requests`);
  yield* fractionWarning(resources?.limits, 'storage', `${path}.resources.limits`);
}

type File = { readonly path: string; readonly source: string };

function* overlapWarnings(volume: Volume): Generator<string> {
  const { name, configMap, secret, downwardAPI, projected } = volume;
  if (configMap?.items) yield* overlapsWithin(name, `ConfigMap ${quote(configMap.name ?? '')}`, configMap.items);
  if (secret?.items) yield* overlapsWithin(name, `Secret ${quote(secret.secretName ?? '')}`, secret.items);
  if (downwardAPI?.items) yield* overlapsWithin(name, 'DownwardAPI', downwardAPI.items);
  if (projected) yield* projectedOverlaps(name, projected);
}

function* overlapsWithin(
  volume: string,
  description: string,
  items: readonly { readonly path: string }[],
): Generator<string> {
  const earlier: File[] = [];
  for (const { path } of items) yield* addFile(earlier, { path, source: '' }, volume, description);
}

function* projectedOverlaps(volume: string, { sources }: ProjectedVolumeSource): Generator<string> {
  const earlier: File[] = [];
  let files: readonly File[] = [];
  for (const source of sources ?? []) {
    if (Object.keys(source).length === 0) {
      yield `volume ${quote(volume)} (Projected) has no sources provided`;
      continue;
    }
    // A source without items is treated as if it had those of the previous source, as in Kubernetes.
    files = filesOf(source) ?? files;
    for (const file of files) yield* addFile(earlier, file, volume, 'Projected');
  }
}

function filesOf({
  configMap,
  secret,
  downwardAPI,
  serviceAccountToken,
}: VolumeProjection): readonly File[] | undefined {
  const from = (source: string, items: readonly { readonly path: string }[]) =>
    items.map(({ path }) => ({ path, source }));
  if (configMap?.items) return from(`ConfigMap ${quote(configMap.name ?? '')}`, configMap.items);
  if (secret?.items) return from(`Secret ${quote(secret.name ?? '')}`, secret.items);
  if (downwardAPI?.items) return from('DownwardAPI', downwardAPI.items);
  if (serviceAccountToken) return from('ServiceAccountToken', [serviceAccountToken]);
  return undefined;
}

function* addFile(earlier: File[], file: File, volume: string, description: string): Generator<string> {
  const added = { ...file, path: trimTrailing(file.path, '/') };
  for (const other of earlier) {
    if (!isOverlap(added.path, other.path)) continue;
    const body = `${describe(added)} with ${describe(other)}`;
    yield `volume ${quote(volume)} (${description}): overlapping paths: ${body}`;
  }
  earlier.push(added);
}

function isOverlap(a: string, b: string): boolean {
  return a !== '' && b !== '' && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`));
}

function describe({ path, source }: File): string {
  return source === '' ? quote(path) : `${quote(path)} (${source})`;
}

function* repetitionWarnings({ hostAliases = [], imagePullSecrets = [] }: PodSpec, path: string): Generator<string> {
  const addresses = new Set<string>();
  for (const [index, { ip }] of hostAliases.entries()) {
    if (addresses.has(ip)) yield `${path}.hostAliases[${index}].ip: duplicate ip ${quote(ip)}`;
    addresses.add(ip);
  }
  const names = new Set<string>();
  for (const [index, { name = '' }] of imagePullSecrets.entries()) {
    if (names.has(name)) yield `${path}.imagePullSecrets[${index}].name: duplicate name ${quote(name)}`;
    names.add(name);
  }
  for (const [index, { name = '' }] of imagePullSecrets.entries()) {
    if (name === '') yield `${path}.imagePullSecrets[${index}].name: invalid empty name ""`;
  }
}

function* fractionWarnings(list: StringMap | undefined, path: string): Generator<string> {
  yield* fractionWarning(list, 'memory', path);
  yield* fractionWarning(list, 'ephemeral-storage', path);
}

/** Warns about fractional bytes. */
function* fractionWarning(list: StringMap | undefined, name: string, path: string): Generator<string> {
  const quantity = list?.[name];
  if (quantity === undefined || isWholeQuantity(quantity)) return;
  yield `${path}[${name}]: fractional byte value ${quote(quantity)} is invalid, must be an integer`;
}

/**
 * Server-side apply keeps one variable of each name. A duplicate loses a value unless the second variable refers to the
 * first.
 */
function* environmentWarnings({ env = [] }: Container | EphemeralContainer, path: string): Generator<string> {
  const names = new Set<string>();
  for (const [index, { name, value = '', valueFrom }] of env.entries()) {
    const reference = `$(${name})`;
    const addsToEarlier = valueFrom === undefined && value !== reference && value.includes(reference);
    if (names.has(name) && !addsToEarlier) {
      const warning = `hides previous definition of ${quote(name)}, which may be dropped when using apply`;
      yield `${path}.env[${index}]: ${warning}`;
    }
    names.add(name);
  }
}

type PlacedPort = { readonly port: ContainerPort; readonly field: string };

function* portWarnings(spec: PodSpec, path: string): Generator<string> {
  const ports = [...containersOf(spec, path)].flatMap(([container, at]) =>
    (container.ports ?? []).map((port, index) => ({ port, field: `${at}.ports[${index}]` })),
  );
  const byNumber = new Map<string, PlacedPort[]>();
  for (const placed of ports) {
    const { port, field } = placed;
    if (port.hostIP && !port.hostPort) yield `${field}: hostIP set without hostPort: ${goPort(port)}`;
    const key = `${port.containerPort}/${port.protocol}`;
    const others = byNumber.get(key) ?? [];
    for (const other of others) {
      const relation = relationOf(port, other.port);
      if (relation) yield `${field}: ${relation} port definition with ${other.field}`;
    }
    byNumber.set(key, [...others, placed]);
  }
  const byName = new Map<string, string>();
  for (const { port, field } of ports) {
    if (!port.name) continue;
    const first = byName.get(port.name);
    if (first === undefined) byName.set(port.name, field);
    else {
      const consequence = `services and probes that select ports by name will use ${first}`;
      yield `${field}: duplicate port name ${quote(port.name)} with ${first}, ${consequence}`;
    }
  }
}

function relationOf(a: ContainerPort, b: ContainerPort): string | undefined {
  const isSameAddress = (a.hostIP ?? '') === (b.hostIP ?? '');
  const isSamePort = (a.hostPort ?? 0) === (b.hostPort ?? 0);
  if (isSameAddress && isSamePort) return 'duplicate';
  if (!a.hostPort || !b.hostPort) return 'overlapping';
  return isSamePort && (!a.hostIP || !b.hostIP) ? 'dangerously ambiguous' : undefined;
}

function goPort({ name = '', hostPort = 0, containerPort, protocol = '', hostIP = '' }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

/** Yields the warnings for an address in a field that accepts several spellings. */
export function* addressWarnings(text: string, path: string): Generator<string> {
  const address = parseLegacyAddress(text);
  if (address === undefined) return;
  const strict = isAddress(text) ? parseAddress(text) : undefined;
  if (strict === undefined || unmap(strict) !== strict) {
    const better = quote(formatAddress(unmap(address)));
    const future = 'will be considered invalid in a future Kubernetes release';
    yield `${path}: non-standard IP address ${quote(text)} ${future}: use ${better}`;
  } else if (strict.family === 6 && formatAddress(strict) !== text) {
    const canonical = quote(formatAddress(strict));
    yield `${path}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${canonical})`;
  }
}
