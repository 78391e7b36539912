/**
 * PodInfo: a Pod with precomputed requests and terms. A Pod rarely changes, but is evaluated in every cycle in which
 * another Pod is scheduled.
 */
import type { PodAffinityTerm } from '@kruise/api/core/affinity';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { type Labels, nothing, type Selector, selectorOf } from '@kruise/machinery/label-selector';
import { podRequests } from '@kruise/machinery/pod-resources';
import { ParseError } from '@kruise/values/parse-error';
import { parseQuantity } from '@kruise/values/quantity';
import { type Resources, resourcesOf } from './resources.ts';

export type PodInfo = {
  readonly pod: Pod;
  readonly spec: PodSpec;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly labels: Labels;
  readonly priority: number;
  readonly isTerminating: boolean;
  readonly requests: Resources;
  /** Non-zero requests: defaults for Pods without requests, so that they are not all placed on one node. */
  readonly nonZeroRequests: { readonly milliCpu: number; readonly memoryBytes: number };
  readonly hostPorts: readonly HostPort[];
  /** PVCs of its volumes (`namespace/name`), without those of ephemeral volumes. */
  readonly claims: readonly string[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedTerm[];
  readonly preferredAntiAffinity: readonly WeightedTerm[];
  /** Reason why its affinity is invalid, if it is. */
  readonly fault: string | undefined;
};

/** A port of a node; `0.0.0.0` means all host IPs. */
export type HostPort = { readonly address: string; readonly protocol: string; readonly port: number };

/** A parsed affinity term: selected Pods and the topology key. */
export type AffinityTerm = {
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: Selector;
  readonly selector: Selector;
  readonly topologyKey: string;
  /** Equal for equivalent terms. */
  readonly id: string;
};
export type WeightedTerm = AffinityTerm & { readonly weight: number };

/** Default requests of a container without requests. */
const assumed = new Map([
  ['cpu', parseQuantity('100m')],
  ['memory', parseQuantity('200Mi')],
]);

export function podInfoOf(pod: Pod): PodInfo {
  const { metadata, status } = pod;
  // A stored Pod has a spec.
  const spec = pod.spec!;
  const { name = '', namespace = '', uid = '' } = metadata;
  const requests = requestsOf(pod);
  const atLeast = hasAllRequests(spec) ? requests : resourcesOf(podRequests(spec, { status, missing: assumed }));
  return {
    pod,
    spec,
    uid,
    name,
    namespace,
    key: `${namespace}/${name}`,
    labels: metadata.labels,
    priority: spec.priority ?? 0,
    isTerminating: metadata.deletionTimestamp != null,
    requests,
    nonZeroRequests: { milliCpu: atLeast.milliCpu, memoryBytes: atLeast.memoryBytes },
    hostPorts: hostPortsOf(spec),
    claims: claimsOf(spec, namespace),
    ...affinityOf(spec, namespace),
  };
}

/** Returns the effective requests of a Pod. */
export function requestsOf({ spec, status }: Pod): Resources {
  return resourcesOf(podRequests(spec!, { status }));
}

/** Returns the PodInfo of a Pod with the same requests, but other labels or deletion state. */
export function relabelled(info: PodInfo, pod: Pod): PodInfo {
  const { labels, deletionTimestamp } = pod.metadata;
  return { ...info, pod, spec: pod.spec!, labels, isTerminating: deletionTimestamp != null };
}

/** Reports whether every container requests CPU and memory. */
function hasAllRequests({ containers, initContainers }: PodSpec): boolean {
  for (const list of [containers, initContainers]) {
    for (const { resources } of list ?? []) {
      if (resources?.requests?.cpu === undefined || resources.requests.memory === undefined) return false;
    }
  }
  return true;
}

const noPorts: readonly HostPort[] = [];

function hostPortsOf({ containers }: PodSpec): readonly HostPort[] {
  let ports: HostPort[] | undefined;
  for (const container of containers ?? []) {
    for (const { hostPort, hostIP, protocol } of container.ports ?? []) {
      if (!hostPort || hostPort <= 0) continue;
      (ports ??= []).push({ address: hostIP || '0.0.0.0', protocol: protocol || 'TCP', port: hostPort });
    }
  }
  return ports ?? noPorts;
}

const noClaims: readonly string[] = [];

function claimsOf({ volumes }: PodSpec, namespace: string): readonly string[] {
  let claims: string[] | undefined;
  for (const { persistentVolumeClaim } of volumes ?? []) {
    if (persistentVolumeClaim) (claims ??= []).push(`${namespace}/${persistentVolumeClaim.claimName}`);
  }
  return claims ?? noClaims;
}

type Affinities = Pick<PodInfo, 'affinity' | 'antiAffinity' | 'preferredAffinity' | 'preferredAntiAffinity' | 'fault'>;

const noAffinity: Affinities = {
  affinity: [],
  antiAffinity: [],
  preferredAffinity: [],
  preferredAntiAffinity: [],
  fault: undefined,
};

function affinityOf({ affinity }: PodSpec, namespace: string): Affinities {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  if (!podAffinity && !podAntiAffinity) return noAffinity;
  const termsOf = (terms: readonly PodAffinityTerm[] | undefined) =>
    (terms ?? []).map((each) => termOf(each, namespace));
  try {
    return {
      affinity: termsOf(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
      antiAffinity: termsOf(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
      preferredAffinity: weighted(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, namespace),
      preferredAntiAffinity: weighted(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, namespace),
      fault: undefined,
    };
  } catch (error) {
    if (error instanceof ParseError) return { ...noAffinity, fault: error.message };
    throw error;
  }
}

function weighted(
  terms: readonly { readonly weight: number; readonly podAffinityTerm: PodAffinityTerm }[] | undefined,
  namespace: string,
): readonly WeightedTerm[] {
  return (terms ?? []).map(({ weight, podAffinityTerm }) => ({ ...termOf(podAffinityTerm, namespace), weight }));
}

function termOf(term: PodAffinityTerm, namespace: string): AffinityTerm {
  const isOwnNamespace = !term.namespaces?.length && term.namespaceSelector == null;
  const namespaces = isOwnNamespace ? [namespace] : (term.namespaces ?? []).toSorted();
  const namespaceSelector = selectorOf(term.namespaceSelector);
  const selector = selectorOf(term.labelSelector);
  const { topologyKey } = term;
  const id = [
    topologyKey,
    namespaces.join(),
    namespaceSelector === nothing ? '-' : `(${namespaceSelector.text})`,
    selector === nothing ? '-' : `(${selector.text})`,
  ].join('|');
  return { namespaces: new Set(namespaces), namespaceSelector, selector, topologyKey, id };
}

/** Reports whether a Pod matches an affinity term, given the labels of the Pod's namespace. */
export function matchesTerm(term: AffinityTerm, pod: PodInfo, namespaceLabels: Labels): boolean {
  const isInNamespace = term.namespaces.has(pod.namespace) || term.namespaceSelector.matches(namespaceLabels);
  return isInNamespace && term.selector.matches(pod.labels);
}
