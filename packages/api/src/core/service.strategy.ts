import type { Draft } from '@kruise/schema/draft';
import { isSame } from '../meta/same.ts';
import type { Service, ServiceSpec } from './service.ts';
import { isExternallyAccessible, needsClusterIP, needsHealthCheck, needsNodePorts } from './service-type.ts';

type Spec = Draft<ServiceSpec>;

/**
 * Clears fields that a change of the type makes meaningless, if the client left them unchanged: the server may have set
 * them, and a client should not need to know all of them to change the type.
 */
export function prepareServiceForUpdate(service: Draft<Service>, old: Service): void {
  const [spec, before] = [(service.spec ??= {}), old.spec ?? {}];
  if (needsClusterIP(before) && !needsClusterIP(spec)) dropAddresses(spec, before);
  if (needsNodePorts(before) && !needsNodePorts(spec) && hasNoNewNodePorts(spec, before)) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec)) dropUnchanged(spec, before, 'healthCheckNodePort');
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    dropUnchanged(spec, before, 'allocateLoadBalancerNodePorts');
    dropUnchanged(spec, before, 'loadBalancerClass');
  }
  if (isExternallyAccessible(before) && !isExternallyAccessible(spec)) {
    dropUnchanged(spec, before, 'externalTrafficPolicy');
  }
  if (spec.type !== 'LoadBalancer' && service.status) {
    const { loadBalancer: _, ...status } = service.status;
    service.status = status;
  }
}

function dropAddresses(spec: Spec, before: ServiceSpec): void {
  if ((spec.clusterIP ?? '') === (before.clusterIP ?? '') && isSame(spec.clusterIPs ?? [], before.clusterIPs ?? [])) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  dropUnchanged(spec, before, 'ipFamilies');
  dropUnchanged(spec, before, 'ipFamilyPolicy');
}

function dropUnchanged(spec: Spec, before: ServiceSpec, field: keyof ServiceSpec): void {
  if (isSame(spec[field], before[field])) delete spec[field];
}

function hasNoNewNodePorts(spec: ServiceSpec, before: ServiceSpec): boolean {
  const known = new Set((before.ports ?? []).map(({ nodePort }) => nodePort));
  return (spec.ports ?? []).every(({ nodePort }) => !nodePort || known.has(nodePort));
}

/**
 * Restores values that the server had allocated and the client omitted: the address and its family, and node ports by
 * port name. A client that updates an older form of a Service loses nothing.
 */
export function keepAllocations(service: Draft<Service>, old: Service): void {
  const [spec, before] = [(service.spec ??= {}), old.spec ?? {}];
  if (needsClusterIP(before) && needsClusterIP(spec)) {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
    if (!spec.clusterIPs?.length && before.clusterIPs?.length) spec.clusterIPs = [...before.clusterIPs];
  }
  if (needsNodePorts(before) && needsNodePorts(spec)) keepNodePorts(spec, before);
  if (needsHealthCheck(before) && needsHealthCheck(spec) && !spec.healthCheckNodePort && before.healthCheckNodePort) {
    spec.healthCheckNodePort = before.healthCheckNodePort;
  }
}

function keepNodePorts(spec: Spec, before: ServiceSpec): void {
  const given = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
  const known = new Map((before.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const nodePort = known.get(port.name ?? '');
    if (!port.nodePort && nodePort && !given.has(nodePort)) port.nodePort = nodePort;
  }
}

/** Keeps `clusterIP` and `clusterIPs` consistent for clients that know only the former. */
export function mirrorClusterIPs(service: Draft<Service>, old: Service | undefined): void {
  const spec = (service.spec ??= {});
  if (!old) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  const before = old.spec ?? {};
  const isSingularSame = (spec.clusterIP ?? '') === (before.clusterIP ?? '');
  if (isSingularSame) {
    if (!spec.clusterIPs?.length && before.clusterIPs?.length) spec.clusterIPs = [...before.clusterIPs];
  } else if (isSame(spec.clusterIPs ?? [], before.clusterIPs ?? [])) {
    if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
    else delete spec.clusterIPs;
  }
}
