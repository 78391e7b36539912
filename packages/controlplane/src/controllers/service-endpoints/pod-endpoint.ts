/** Endpoint data of a Pod. */

import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import type { Service, ServicePort } from '@kruise/api/core/service';
import { isPodFinished } from '@kruise/machinery/pods';
import { formatAddress, parseLegacyAddress, unmap } from '@kruise/values/address';

export type IpFamily = 'IPv4' | 'IPv6';

/** Reports whether a Pod has an endpoint at all. */
export function isPublishable(pod: Pod, { includesTerminating }: { readonly includesTerminating: boolean }): boolean {
  if (isPodFinished(pod) || !(pod.status?.podIP || pod.status?.podIPs?.length)) return false;
  return includesTerminating || pod.metadata.deletionTimestamp == null;
}

/** Fast path: most addresses are canonical, and 5,000 of them are checked in every reconcile. */
const canonicalIpv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Returns the addresses of a Pod in an IP family, in canonical form. */
export function addressesOf({ status }: Pod, family: IpFamily): readonly string[] {
  const addresses: string[] = [];
  for (const { ip } of status?.podIPs ?? []) {
    if (canonicalIpv4.test(ip)) {
      if (family === 'IPv4') addresses.push(ip);
      continue;
    }
    const parsed = parseLegacyAddress(ip);
    if (!parsed) continue;
    const address = unmap(parsed);
    if ((address.family === 6) === (family === 'IPv6')) addresses.push(formatAddress(address));
  }
  return addresses;
}

/** Returns the target port number of a Service port; undefined if the Pod has no port of that name. */
export function portNumberOf({ spec }: Pod, { targetPort, port, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return targetPort;
  if (!targetPort) return port;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
  for (const { ports } of containers) {
    const found = ports?.find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol);
    if (found) return found.containerPort;
  }
  return undefined;
}

/** Returns the hostname of a Pod below its Service, if it has one. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const isBelow = spec?.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isBelow && spec?.hostname ? spec.hostname : undefined;
}

/** Reports whether a Service has a cluster IP; headless Services do not. */
export function hasAddress({ spec }: Service): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None';
}
