/**
 * A Pod as the scheduler sees it: what it asks for, reckoned once. A Pod stays the same while it waits and runs, but is
 * looked at in every cycle in which another is to be placed.
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
  /** What it is taken to need at least, so that Pods that ask for nothing are not all put in one place. */
  readonly assumedRequests: { readonly milliCpu: number; readonly memoryBytes: number };
  readonly hostPorts: readonly HostPort[];
  /** The claims of its volumes, by `namespace/name`, without those made for it. */
  readonly claims: readonly string[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedTerm[];
  readonly preferredAntiAffinity: readonly WeightedTerm[];
  /** Why its affinity makes no sense, if it does not. */
  readonly fault: string | undefined;
};

/** A port of a node: `0.0.0.0` are all addresses. */
export type HostPort = { readonly address: string; readonly protocol: string; readonly port: number };

/** Other Pods, and which nodes are near to each other. */
export type AffinityTerm = {
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: Selector;
  readonly selector: Selector;
  readonly topologyKey: string;
  /** The same for terms that mean the same. */
  readonly id: string;
};
export type WeightedTerm = AffinityTerm & { readonly weight: number };

/** What a container without a request is taken to need. */
const assumed = new Map([
  ['cpu', parseQuantity('100m')],
  ['memory', parseQuantity('200Mi')],
]);

export function podInfoOf(pod: Pod): PodInfo {
  const { metadata, status } = pod;
  // A Pod that was stored has a spec.
  const spec = pod.spec!;
  const { name = '', namespace = '', uid = '' } = metadata;
  const requests = requestsOf(pod);
  const atLeast = asksForAll(spec) ? requests : resourcesOf(podRequests(spec, { status, missing: assumed }));
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
    assumedRequests: { milliCpu: atLeast.milliCpu, memoryBytes: atLeast.memoryBytes },
    hostPorts: hostPortsOf(spec),
    claims: claimsOf(spec, namespace),
    ...affinityOf(spec, namespace),
  };
}

/** What a Pod takes up. */
export function requestsOf({ spec, status }: Pod): Resources {
  return resourcesOf(podRequests(spec!, { status }));
}

/** A Pod that asks for what it asked for before, with other labels or on its way out. */
export function relabelled(info: PodInfo, pod: Pod): PodInfo {
  const { labels, deletionTimestamp } = pod.metadata;
  return { ...info, pod, spec: pod.spec!, labels, isTerminating: deletionTimestamp != null };
}

/** Whether every container says how much processor and memory it needs. */
function asksForAll({ containers, initContainers }: PodSpec): boolean {
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

/** Whether a Pod is one of those a term is about; the labels are those of the Pod's namespace. */
export function isMeant(term: AffinityTerm, pod: PodInfo, namespaceLabels: Labels): boolean {
  const isInNamespace = term.namespaces.has(pod.namespace) || term.namespaceSelector.matches(namespaceLabels);
  return isInNamespace && term.selector.matches(pod.labels);
}
