/**
 * Service routing for simulated Pods: DNS names of Services and load balancing to endpoints. On a real node these are
 * the tasks of DNS and kube-proxy; here both are lookups in the informer caches.
 */
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import type { ObjectReader } from '@kruise/client/object-store';
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
/** Maximum length of a chain of ExternalName aliases. */
const maxAliases = 8;

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
  const suffix = `.svc.${clusterDomain}`;
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

  /** Resolves `web.default.svc.cluster.local`, or one Pod of a headless Service: `web-0.web.default.svc…`. */
  function resolve(name: string, aliases = 0): readonly string[] {
    const full = name.endsWith('.') ? name.slice(0, -1) : name;
    if (!full.endsWith(suffix)) return [];
    const labels = full.slice(0, -suffix.length).split('.');
    const [namespace, serviceName, hostname] = labels.reverse();
    if (namespace === undefined || serviceName === undefined || labels.length > 3) return [];
    const service = services.get({ namespace, name: serviceName });
    if (!service) return [];
    if (service.spec?.type === 'ExternalName') {
      return aliases < maxAliases ? resolve(service.spec.externalName ?? '', aliases + 1) : [];
    }
    const own = addressesOf(service);
    if (own.length > 0) return hostname === undefined ? own : [];
    const endpoints = slicesOf(service).flatMap(readyEndpoints);
    const matching = hostname === undefined ? endpoints : endpoints.filter((each) => each.hostname === hostname);
    return matching.flatMap(({ addresses }) => addresses.slice(0, 1));
  }

  /** Returns the Service of a DNS name, without a Pod hostname. */
  function findService(name: string): Service | undefined {
    const [serviceName = '', namespace = '', ...more] = name.slice(0, -suffix.length).split('.');
    return name.endsWith(suffix) && more.length === 0 ? services.get({ namespace, name: serviceName }) : undefined;
  }

  function records(name: string, type: string): readonly string[] {
    const full = name.endsWith('.') ? name.slice(0, -1) : name;
    switch (type) {
      case 'A':
        return resolve(full).filter((address) => !address.includes(':'));
      case 'AAAA':
        return resolve(full).filter((address) => address.includes(':'));
      case 'CNAME': {
        const { type: kind, externalName } = findService(full)?.spec ?? {};
        return kind === 'ExternalName' ? [`${externalName}.`] : [];
      }
      case 'SRV': {
        const [, portName, protocol = '', serviceName = ''] = /^_([^.]+)\._([^.]+)\.(.+)$/.exec(full) ?? [];
        const ports = findService(serviceName)?.spec?.ports ?? [];
        return ports
          .filter((each) => each.name === portName && (each.protocol ?? 'TCP').toLowerCase() === protocol)
          .map(({ port }) => `0 100 ${port} ${serviceName}.`);
      }
      case 'PTR': {
        const address = /^([\d.]+)\.in-addr\.arpa$/.exec(full)?.[1]?.split('.').reverse().join('.');
        const owners = address === undefined ? [] : services.byIndex(byAddress, address);
        return owners.map(({ metadata }) => `${metadata.name}.${metadata.namespace}${suffix}.`);
      }
      default:
        return [];
    }
  }

  return { route, resolve: (name) => resolve(name), records };
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
