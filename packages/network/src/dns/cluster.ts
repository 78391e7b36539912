/** The objects that cluster DNS answers from: an interface for lookups, and its implementation by informer caches. */
import type { Namespace } from '@kruise/api/core/namespace';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import type { ObjectReader } from '@kruise/client/object-store';

/** Lookups of the objects of a cluster. */
export type ClusterReader = {
  hasNamespace(name: string): boolean;
  service(namespace: string, name: string): Service | undefined;
  /** Returns the EndpointSlices of a Service. */
  slicesOf(namespace: string, serviceName: string): readonly EndpointSlice[];
  /** Returns the Services with a cluster IP. */
  servicesWithAddress(address: string): readonly Service[];
  /** Returns the EndpointSlices with a ready endpoint of this address. */
  slicesWithAddress(address: string): readonly EndpointSlice[];
};

export type Endpoint = NonNullable<EndpointSlice['endpoints']>[number];

/** Reads the objects from caches. Without a cache of Namespaces, every Namespace is taken to exist. */
export function clusterReader(
  services: ObjectReader<Service>,
  slices: ObjectReader<EndpointSlice>,
  namespaces?: ObjectReader<Namespace>,
): ClusterReader {
  return {
    hasNamespace: (name) => namespaces === undefined || namespaces.get({ name }) !== undefined,
    service: (namespace, name) => services.get({ namespace, name }),
    slicesOf: (namespace, serviceName) => slices.byIndex(byService, `${namespace}/${serviceName}`),
    servicesWithAddress: (address) => services.byIndex(clusterAddresses, address),
    slicesWithAddress: (address) => slices.byIndex(byEndpointAddress, address),
  };
}

/** Returns the cluster IPs of a Service; empty for a headless Service and for an ExternalName. */
export function clusterAddresses({ spec }: Service): readonly string[] {
  const addresses = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
  return addresses.filter((address) => address !== 'None' && address !== '');
}

/** Reports whether a Service has the cluster IP `None`. */
export function isHeadless({ spec }: Service): boolean {
  return (spec?.clusterIPs?.[0] ?? spec?.clusterIP) === 'None';
}

/** Returns the name of the Service of an EndpointSlice. */
export function serviceNameOf({ metadata }: EndpointSlice): string | undefined {
  return metadata.labels?.['kubernetes.io/service-name'];
}

/**
 * Returns the endpoints that have DNS records: those that are ready. The EndpointSlice controller reports all endpoints
 * of a Service with `publishNotReadyAddresses` as ready.
 */
export function publishedEndpoints({ endpoints }: EndpointSlice): readonly Endpoint[] {
  return (endpoints ?? []).filter(({ conditions }) => conditions?.ready ?? true);
}

function byService(slice: EndpointSlice): readonly string[] {
  const name = serviceNameOf(slice);
  return name === undefined ? [] : [`${slice.metadata.namespace}/${name}`];
}

function byEndpointAddress(slice: EndpointSlice): readonly string[] {
  if (serviceNameOf(slice) === undefined) return [];
  return [...new Set(publishedEndpoints(slice).flatMap(({ addresses }) => addresses))];
}
