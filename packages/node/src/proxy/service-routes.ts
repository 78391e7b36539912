/**
 * Service routing for simulated Pods: DNS names of Services and load balancing to endpoints. On a real node these are
 * the tasks of DNS and kube-proxy; here both are lookups in the informer caches. Where a connection goes is decided by
 * the function that kube-proxy renders to the rules of the kernel.
 */
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import type { ObjectReader } from '@kruise/client/object-store';
import { clusterReader } from '@kruise/network/dns/cluster';
import { clusterResolver } from '@kruise/network/dns/lookup';
import { type Packet, type PacketContext, routePacket, type ServiceLookup } from '@kruise/network/service/packet-route';
import { familyOf, type ServiceNode, servicePortsOf } from '@kruise/network/service/service-port';
import { pick, type Random } from '@kruise/values/random';
import type { ServiceRoutes } from '../cri/simulated/network.ts';

/** A node of the simulation, which decides about the connections that begin or arrive there. */
export type RoutingNode = ServiceNode & { readonly address: string };

export type ServiceRoutesOptions = {
  readonly services: ObjectReader<Service>;
  readonly slices: ObjectReader<EndpointSlice>;
  readonly random: Random;
  readonly now: () => number;
  /** Returns the node with an address. */
  readonly findNode?: (address: string) => RoutingNode | undefined;
  /** Returns the node of the Pod with an IP. */
  readonly findNodeOfPod?: (address: string) => RoutingNode | undefined;
  readonly clusterDomain?: string;
};

/** Maximum number of session affinity entries; the least recently used one is evicted first. */
const maxAffinities = 10_000;

export function serviceRoutes({
  services,
  slices,
  random,
  now,
  findNode = () => undefined,
  findNodeOfPod = () => undefined,
  clusterDomain = 'cluster.local',
}: ServiceRoutesOptions): ServiceRoutes {
  const affinities = new Map<string, { readonly target: string; readonly until: number }>();
  const slicesOf = ({ metadata }: Service) => slices.byIndex(byService, `${metadata.namespace}/${metadata.name}`);

  const route: ServiceRoutes['route'] = ({ host, port }, { transport, clientAddress }) => {
    const packet = { source: clientAddress, destination: host, port, protocol: transport } as const;
    const podNode = findNodeOfPod(clientAddress);
    // The node of the client decides, as it does for real. It leaves alone what is for the address of another node.
    const node = findNode(host) ?? podNode ?? findNode(clientAddress) ?? outsideNode;
    const isLocalPod = podNode !== undefined && podNode.name === node.name;
    const addresses = new Set(node.address === '' ? [] : [node.address]);
    const context: PacketContext = {
      nodeAddresses: addresses,
      nodePortAddresses: addresses,
      localTraffic: { by: 'bridge', name: podInterface },
      masqueradeAll: false,
      rejectUnknownPorts: true,
    };
    const found = routePacket(
      lookupOf(node, packet),
      isLocalPod ? { ...packet, inputInterface: podInterface } : packet,
      context,
    );
    switch (found.verdict) {
      case 'pass':
        return undefined;
      case 'reject':
        return 'refuse';
      case 'drop':
        return 'drop';
      case 'forward': {
        const { affinity } = found;
        // The key is that of the Service, so that a Service with the same name does not inherit its clients.
        const key = affinity && `${affinity.key} ${uidOf(affinity.key)} ${clientAddress}`;
        const known = key === undefined ? undefined : affinities.get(key);
        const sticky =
          known && known.until > now() ? found.targets.find((each) => each.address === known.target) : undefined;
        const target = sticky ?? pick(random, found.targets);
        if (affinity && key !== undefined) {
          affinities.delete(key);
          affinities.set(key, { target: target.address, until: now() + 1000 * affinity.seconds });
          if (affinities.size > maxAffinities) affinities.delete(affinities.keys().next().value!);
        }
        const source = target.isMasqueraded && node.address !== '' ? { source: node.address } : {};
        return { host: target.address, port: target.port, ...source };
      }
    }
  };

  function uidOf(servicePort: string): string {
    const [namespace = '', name = ''] = servicePort.split('/');
    return services.get({ namespace, name })?.metadata.uid ?? '';
  }

  /** Service ports are derived from the Services with this destination only, as a node sees them. */
  function lookupOf(node: RoutingNode, { destination }: Packet): ServiceLookup {
    const portsOf = (found: readonly Service[], family: ReturnType<typeof familyOf>) =>
      found.flatMap((each) => servicePortsOf(each, slicesOf(each), node, family));
    return {
      byAddress: (address, port, protocol) =>
        portsOf(services.byIndex(byAddress, address), familyOf(address)).find(
          (each) =>
            each.port === port &&
            each.protocol === protocol &&
            (each.clusterIP === address ||
              each.externalIPs.includes(address) ||
              each.loadBalancerIPs.includes(address)),
        ),
      byNodePort: (port, protocol) =>
        portsOf(services.byIndex(byNodePort, String(port)), familyOf(destination)).find(
          (each) => each.nodePort === port && each.protocol === protocol,
        ),
      isClusterIP: (address) =>
        services.byIndex(byAddress, address).some((each) => addressesOf(each).includes(address)),
    };
  }

  return { route, ...clusterResolver(clusterReader(services, slices), clusterDomain) };
}

/** Interface of the Pods of a simulated node. */
const podInterface = 'pods';
/** Decides about clients that are on no node. */
const outsideNode: RoutingNode = { name: '', address: '' };

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
