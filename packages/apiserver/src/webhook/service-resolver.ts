import { endpoints as endpointsKind } from '@kruise/api/core/endpoints';
import { service as serviceKind } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { pick, type Random } from '@kruise/values/random';
import type { Lookup } from '../admission/lookup.ts';

/** Resolves a Service to an address that is reachable from outside the cluster network. */
export type ServiceResolver = (service: {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}) => { readonly host: string; readonly port: number };

/**
 * Selects one of the endpoints of a Service, as a proxy does. Without EndpointSlices, the Service's cluster IP is used.
 */
export function createServiceResolver(lookup: Lookup, random: Random): ServiceResolver {
  const services = lookup.of(serviceKind);
  const slices = lookup.of(endpointSlice);
  const endpoints = lookup.of(endpointsKind);

  /** Returns the endpoints; undefined if the Service has no EndpointSlices. */
  function backends(namespace: string, name: string, portName: string): Backend[] | undefined {
    const owned = slices
      .list(namespace)
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);
    if (owned.length > 0) {
      return owned.flatMap(({ endpoints: all, ports }) =>
        (all ?? [])
          .filter(({ conditions }) => conditions?.ready !== false)
          .flatMap(({ addresses }) => addressesOf(addresses ?? [], ports ?? [], portName)),
      );
    }
    const recorded = endpoints.get(name, namespace);
    return recorded?.subsets?.flatMap(({ addresses, ports }) =>
      addressesOf(
        (addresses ?? []).map(({ ip }) => ip),
        ports ?? [],
        portName,
      ),
    );
  }

  return ({ namespace, name, port }) => {
    const { spec } = services.get(name, namespace) ?? {};
    if (!spec) throw new Error(`service ${JSON.stringify(name)} not found`);
    if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port };
    const found = spec.ports?.find((each) => each.port === port);
    if (!found) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const all = backends(namespace, name, found.name ?? '');
    if (all && all.length > 0) return pick(random, all);
    if (all || !spec.clusterIP || spec.clusterIP === 'None') {
      throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    }
    return { host: spec.clusterIP, port };
  };
}

type Backend = { readonly host: string; readonly port: number };

function addressesOf(
  hosts: readonly string[],
  ports: readonly { readonly name?: string | null; readonly port?: number | null }[],
  portName: string,
): Backend[] {
  const port = ports.find(({ name }) => (name ?? '') === portName)?.port;
  return port == null ? [] : hosts.map((host) => ({ host, port }));
}
