/** What of a Pod is published for a Service. */

import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import type { Service, ServicePort } from '@kruise/api/core/service';
import { isPodFinished } from '@kruise/machinery/pods';
import { formatAddress, parseLegacyAddress, unmap } from '@kruise/values/address';

export type IpFamily = 'IPv4' | 'IPv6';

/** Whether a Pod has anything to publish at all. */
export function isPublishable(pod: Pod, { includesLeaving }: { readonly includesLeaving: boolean }): boolean {
  if (isPodFinished(pod) || !(pod.status?.podIP || pod.status?.podIPs?.length)) return false;
  return includesLeaving || pod.metadata.deletionTimestamp == null;
}

/** Most addresses are written as they are to be, and 5,000 of them are looked at again and again. */
const canonicalIpv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** The addresses of a Pod in a family, as they are usually written. */
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

/** The number of the port that a port of a Service leads to; undefined if the Pod has none of its name. */
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

/** The name a Pod has in the DNS below a Service, if it asks for one. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const isBelow = spec?.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isBelow && spec?.hostname ? spec.hostname : undefined;
}

/** Whether a Service has an address of its own; a headless one has not. */
export function hasAddress({ spec }: Service): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None';
}
