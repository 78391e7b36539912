/**
 * Services, for simulated Pods: which addresses a name has, and which Pod answers at a Service's address. On a real node
 * these are the tasks of DNS and kube-proxy; here a look at the caches does for both.
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
  readonly clusterDomain?: string;
};

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number];

export function serviceRoutes({
  services,
  slices,
  random,
  clusterDomain = 'cluster.local',
}: ServiceRoutesOptions): ServiceRoutes {
  const suffix = `.svc.${clusterDomain}`;
  const slicesOf = ({ metadata }: Service) => slices.byIndex(byService, `${metadata.namespace}/${metadata.name}`);

  function route({ host, port }: NetworkTarget): NetworkTarget | 'refuse' | undefined {
    const [service] = services.byIndex(byAddress, host);
    if (!service) return undefined;
    const servicePort = service.spec?.ports?.find((each) => each.port === port && (each.protocol ?? 'TCP') === 'TCP');
    if (!servicePort) return 'refuse';
    const targets = slicesOf(service).flatMap((slice) => {
      const found = slice.ports?.find(({ name = '' }) => name === (servicePort.name ?? ''));
      if (found?.port === undefined) return [];
      return readyEndpoints(slice).flatMap(({ addresses }) => ({
        host: addresses[0] ?? '',
        port: found.port as number,
      }));
    });
    return targets.length === 0 ? 'refuse' : pick(random, targets);
  }

  /** `web.default.svc.cluster.local`, or one Pod of a Service without an address: `web-0.web.default.svc…`. */
  function resolve(name: string): readonly string[] {
    const full = name.endsWith('.') ? name.slice(0, -1) : name;
    if (!full.endsWith(suffix)) return [];
    const labels = full.slice(0, -suffix.length).split('.');
    const [namespace, serviceName, hostname] = labels.reverse();
    if (namespace === undefined || serviceName === undefined || labels.length > 3) return [];
    const service = services.get({ namespace, name: serviceName });
    if (!service) return [];
    const own = addressesOf(service);
    if (own.length > 0) return hostname === undefined ? own : [];
    const endpoints = slicesOf(service).flatMap(readyEndpoints);
    const named = hostname === undefined ? endpoints : endpoints.filter((each) => each.hostname === hostname);
    return named.flatMap(({ addresses }) => addresses.slice(0, 1));
  }

  return { route, resolve };
}

function readyEndpoints({ endpoints }: EndpointSlice): readonly Endpoint[] {
  return (endpoints ?? []).filter(({ conditions }) => conditions?.ready ?? true);
}

/** The Service's own; none if its Pods are found by name alone. */
function addressesOf({ spec }: Service): readonly string[] {
  const addresses = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return addresses.filter((address) => address !== 'None' && address !== '');
}

/** Those it is reached at: its own, and those others were given for it. */
function byAddress(service: Service): readonly string[] {
  const { externalIPs = [] } = service.spec ?? {};
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  return [...addressesOf(service), ...externalIPs, ...ingress.flatMap(({ ip }) => ip ?? [])];
}

function byService({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata.labels?.['kubernetes.io/service-name'];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}
