/**
 * Service routing for simulated Pods: DNS names of Services and load balancing to endpoints. On a real node these are
 * the tasks of DNS and kube-proxy; here both are lookups in the informer caches.
 */
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import type { ObjectReader } from '@kruise/client/object-store';
import { clusterReader } from '@kruise/network/dns/cluster';
import { clusterResolver } from '@kruise/network/dns/lookup';
import { pick, type Random } from '@kruise/values/random';
import type { NetworkTarget } from '../cri/runtime.ts';
import type { ServiceRoutes } from '../cri/simulated/network.ts';

export type ServiceRoutesOptions = {
  readonly services: ObjectReader<Service>;
  readonly slices: ObjectReader<EndpointSlice>;
  readonly random: Random;
  readonly now: () => number;
  readonly isNodeAddress?: (address: string) => boolean;
  readonly clusterDomain?: string;
};

/** Maximum number of session affinity entries; the least recently used one is evicted first. */
const maxAffinities = 10_000;
const defaultAffinitySeconds = 10_800;

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number];
type Endpoint = NonNullable<EndpointSlice['endpoints']>[number];

export function serviceRoutes({
  services,
  slices,
  random,
  now,
  isNodeAddress = () => false,
  clusterDomain = 'cluster.local',
}: ServiceRoutesOptions): ServiceRoutes {
  const affinities = new Map<string, { readonly target: NetworkTarget; readonly until: number }>();
  const slicesOf = ({ metadata }: Service) => slices.byIndex(byService, `${metadata.namespace}/${metadata.name}`);

  const route: ServiceRoutes['route'] = ({ host, port }, { transport, clientAddress }) => {
    const matchesTransport = ({ protocol = 'TCP' }: { readonly protocol?: string }) => protocol === transport;
    const [service] = services.byIndex(byAddress, host);
    if (service) {
      const servicePort = service.spec?.ports?.find((each) => each.port === port && matchesTransport(each));
      return servicePort ? selectEndpoint(service, servicePort, clientAddress) : 'refuse';
    }
    if (!isNodeAddress(host)) return undefined;
    for (const open of services.byIndex(byNodePort, String(port))) {
      const servicePort = open.spec?.ports?.find((each) => each.nodePort === port && matchesTransport(each));
      if (servicePort) return selectEndpoint(open, servicePort, clientAddress);
    }
    return undefined;
  };

  function selectEndpoint(service: Service, { name = '', protocol = 'TCP' }: ServicePort, clientAddress: string) {
    const targets = slicesOf(service).flatMap((slice): NetworkTarget[] => {
      const found = slice.ports?.find((each) => (each.name ?? '') === name && (each.protocol ?? 'TCP') === protocol);
      const port = found?.port;
      if (port === undefined) return [];
      return readyEndpoints(slice).map(({ addresses }) => ({ host: addresses[0] ?? '', port }));
    });
    if (targets.length === 0) return 'refuse';
    const { sessionAffinity, sessionAffinityConfig } = service.spec ?? {};
    if (sessionAffinity !== 'ClientIP') return pick(random, targets);
    const key = `${service.metadata.uid} ${name} ${clientAddress}`;
    const known = affinities.get(key);
    const isSticky = known && known.until > now() && targets.some(({ host }) => host === known.target.host);
    const target = isSticky ? known.target : pick(random, targets);
    const affinitySeconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds;
    affinities.delete(key);
    affinities.set(key, { target, until: now() + 1000 * affinitySeconds });
    if (affinities.size > maxAffinities) affinities.delete(affinities.keys().next().value!);
    return target;
  }

  return { route, ...clusterResolver(clusterReader(services, slices), clusterDomain) };
}

function readyEndpoints({ endpoints }: EndpointSlice): readonly Endpoint[] {
  return (endpoints ?? []).filter(({ conditions }) => conditions?.ready ?? true);
}

/** Returns the cluster IPs of a Service; empty for a headless Service. */
function addressesOf({ spec }: Service): readonly string[] {
  const addresses = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return addresses.filter((address) => address !== 'None' && address !== '');
}

/** Returns all IPs of a Service: cluster IPs, external IPs and load balancer IPs. */
function byAddress(service: Service): readonly string[] {
  const { externalIPs = [] } = service.spec ?? {};
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  return [...addressesOf(service), ...externalIPs, ...ingress.flatMap(({ ip }) => ip ?? [])];
}

function byNodePort({ spec }: Service): readonly string[] {
  return (spec?.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [String(nodePort)] : []));
}

function byService({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata.labels?.['kubernetes.io/service-name'];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}
