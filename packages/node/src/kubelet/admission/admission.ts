/**
 * Pod admission on the node: a pure function that decides whether the kubelet accepts a Pod bound to the node. The
 * first rejection wins.
 */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isNativeResource } from '@kruise/api/core/resource-name';
import { requiredNodes } from '@kruise/machinery/node-affinity';
import { findUntolerated, isTolerated } from '@kruise/machinery/tolerations';
import { milliValue, parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { Rejection, Requests, Usage } from './allocations.ts';
import { isCriticalPod, isStaticPod } from './critical.ts';

/** State of the node at the time of admission. */
export type AdmissionState = {
  readonly node: Node;
  readonly requests: Requests;
  /** Resources allocated to other Pods. */
  readonly used: Usage;
  /** Host ports in use, such as `TCP/0.0.0.0/80`. */
  readonly hostPorts: Iterable<string>;
  /** Node pressure conditions that are true, such as `MemoryPressure`. */
  readonly pressures: readonly string[];
  readonly isShuttingDown: boolean;
};

/** Returns why the node rejects a Pod; undefined if the Pod is admitted. */
export function findRejection(pod: Pod, state: AdmissionState): Rejection | undefined {
  return (
    pressureRejection(pod, state.pressures) ??
    sysctlRejection(pod) ??
    osRejection(pod, state.node) ??
    resourceRejection(state) ??
    predicateRejection(pod, state) ??
    (state.isShuttingDown
      ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' }
      : undefined)
  );
}

/** Reports whether a Pod was rejected only for insufficient resources, so that preemption could admit it. */
export function isInsufficientResources({ reason }: Rejection): boolean {
  return reason.startsWith('OutOf');
}

const memoryPressureTaint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const;

function pressureRejection(pod: Pod, pressures: readonly string[]): Rejection | undefined {
  if (pressures.length === 0 || isCriticalPod(pod)) return undefined;
  const isMemoryAlone = pressures.length === 1 && pressures[0] === 'MemoryPressure';
  if (isMemoryAlone) {
    if (pod.status?.qosClass !== 'BestEffort') return undefined;
    if (isTolerated(memoryPressureTaint, pod.spec?.tolerations)) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${pressures.join(' ')}]. ` };
}

/** Safe sysctls: namespaced kernel parameters that affect only the Pod. */
const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]);

function sysctlRejection({ spec }: Pod): Rejection | undefined {
  for (const { name } of spec?.securityContext?.sysctls ?? []) {
    const dotted = name.replaceAll('/', '.');
    if (safeSysctls.has(dotted)) continue;
    return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(dotted)} not allowlisted` };
  }
  return undefined;
}

function osRejection({ spec }: Pod, { metadata, status }: Node): Rejection | undefined {
  const os = metadata.labels?.['kubernetes.io/os'] ?? 'linux';
  const wanted = spec?.nodeSelector?.['kubernetes.io/os'];
  if (wanted !== undefined && wanted !== os) {
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  }
  if (spec?.os && spec.os.name !== os) {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  const isStrict = spec?.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (isStrict && !status?.features?.supplementalGroupsPolicy) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return undefined;
}

function resourceRejection(state: AdmissionState): Rejection | undefined {
  const [first] = insufficientResources(state);
  if (!first) return undefined;
  const { name, requested, used, capacity } = first;
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${amounts}` };
}

/** A resource that is insufficient for a Pod. */
export type InsufficientResource = {
  readonly name: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
};

/** Returns every resource that is insufficient for a Pod. */
export function insufficientResources({
  node: { status },
  requests,
  used,
}: Pick<AdmissionState, 'node' | 'requests' | 'used'>): readonly InsufficientResource[] {
  const allocatable = status?.allocatable ?? {};
  const capacityOf = (name: string) => {
    const quantity = parseQuantity(allocatable[name] ?? '0');
    return name === 'cpu' ? milliValue(quantity) : quantityValue(quantity);
  };
  const all: InsufficientResource[] = [
    { name: 'pods', requested: 1, used: used.podCount, capacity: capacityOf('pods') },
  ];
  for (const [name, requested] of requests) {
    // Resources that the node does not report are accounted for elsewhere.
    if (requested === 0 || (!isNativeResource(name) && allocatable[name] === undefined)) continue;
    all.push({ name, requested, used: used.of(name), capacity: capacityOf(name) });
  }
  return all.filter((each) => each.used + each.requested > each.capacity);
}

function predicateRejection(pod: Pod, { node, hostPorts }: AdmissionState): Rejection | undefined {
  const { spec } = pod;
  const failed = (reason: string, why: string): Rejection => ({
    reason,
    message: `Predicate ${reason} failed: ${why}`,
  });
  const matchesNode = spec ? requiredNodes(spec) : undefined;
  if (matchesNode && !matchesNode(node))
    return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  if (spec?.nodeName && spec.nodeName !== node.metadata.name) {
    return failed('NodeName', "node(s) didn't match the requested node name");
  }
  const wanted = [...hostPortsOf(pod)];
  if (wanted.length > 0 && [...hostPorts].some((taken) => wanted.some((port) => hostPortsConflict(port, taken)))) {
    return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  }
  if (!isStaticPod(pod) && findUntolerated(node.spec?.taints, spec?.tolerations, ['NoExecute'])) {
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  }
  return undefined;
}

/** Yields the host ports that a Pod requests, as protocol, address and port number. */
export function* hostPortsOf({ spec }: Pod): Generator<string> {
  for (const { ports = [] } of spec?.containers ?? []) {
    for (const { hostPort, hostIP, protocol } of ports) {
      if (hostPort) yield `${protocol ?? 'TCP'}/${hostIP || '0.0.0.0'}/${hostPort}`;
    }
  }
}

function hostPortsConflict(one: string, other: string): boolean {
  const [protocol, address, port] = one.split('/');
  const [otherProtocol, otherAddress, otherPort] = other.split('/');
  const isAny = address === '0.0.0.0' || otherAddress === '0.0.0.0';
  return protocol === otherProtocol && port === otherPort && (isAny || address === otherAddress);
}
