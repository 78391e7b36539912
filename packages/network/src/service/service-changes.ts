/** Services and EndpointSlices as watched, and which Services have changed since the last sync. */
import type { Service } from '@kruise/api/core/service';
import { needsHealthCheck } from '@kruise/api/core/service-type';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import {
  countLocalReady,
  type IPFamily,
  type ServiceNode,
  type ServicePort,
  serviceNameLabel,
  servicePortsOf,
} from './service-port.ts';

/** The state of a Service that has changed. */
export type ServiceChange = {
  /** `namespace/name`. */
  readonly service: string;
  /** Service ports of all families; empty if the Service has none or is deleted. */
  readonly ports: readonly ServicePort[];
  readonly healthCheckNodePort?: number;
  readonly localReady: number;
};

export type ServiceChanges = {
  setService(service: Service): void;
  deleteService(service: Service): void;
  setSlice(slice: EndpointSlice): void;
  deleteSlice(slice: EndpointSlice): void;
  /** Changes the node. All Services are evaluated again. */
  setNode(node: ServiceNode): void;
  markAll(): void;
  /** Takes the changed Services. */
  take(): readonly ServiceChange[];
  readonly pending: number;
};

export function createServiceChanges(initial: ServiceNode, families: readonly IPFamily[]): ServiceChanges {
  const services = new Map<string, Service>();
  const slices = new Map<string, Map<string, EndpointSlice>>();
  let node = initial;
  let dirty = new Set<string>();

  const keyOf = ({ metadata }: Service | EndpointSlice) => `${metadata.namespace}/${metadata.name}`;
  const ownerOf = ({ metadata }: EndpointSlice) => {
    const name = metadata.labels?.[serviceNameLabel];
    return name === undefined ? undefined : `${metadata.namespace}/${name}`;
  };
  const evaluate = (key: string): ServiceChange => {
    const service = services.get(key);
    if (!service) return { service: key, ports: [], localReady: 0 };
    const own = [...(slices.get(key)?.values() ?? [])];
    const ports = families.flatMap((family) => servicePortsOf(service, own, node, family));
    const healthCheckNodePort = service.spec?.healthCheckNodePort;
    const isChecked = ports.length > 0 && service.spec !== undefined && needsHealthCheck(service.spec);
    return {
      service: key,
      ports,
      localReady: countLocalReady(own, node),
      ...(isChecked && healthCheckNodePort ? { healthCheckNodePort } : {}),
    };
  };

  return {
    setService(service) {
      services.set(keyOf(service), service);
      dirty.add(keyOf(service));
    },
    deleteService(service) {
      services.delete(keyOf(service));
      dirty.add(keyOf(service));
    },
    setSlice(slice) {
      const owner = ownerOf(slice);
      if (owner === undefined) return;
      const all = slices.get(owner) ?? new Map<string, EndpointSlice>();
      slices.set(owner, all.set(keyOf(slice), slice));
      dirty.add(owner);
    },
    deleteSlice(slice) {
      const owner = ownerOf(slice);
      const all = owner === undefined ? undefined : slices.get(owner);
      if (owner === undefined || !all) return;
      all.delete(keyOf(slice));
      if (all.size === 0) slices.delete(owner);
      dirty.add(owner);
    },
    setNode(changed) {
      node = changed;
      dirty = new Set(services.keys());
    },
    markAll() {
      dirty = new Set([...dirty, ...services.keys()]);
    },
    take() {
      const taken = [...dirty];
      dirty = new Set();
      return taken.map(evaluate);
    },
    get pending() {
      return dirty.size;
    },
  };
}
