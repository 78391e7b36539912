import type { Service } from '@kruise/api/core/service';
import { isHeadless, needsNodePorts } from '@kruise/api/core/service-type';
import type { IPAddress } from '@kruise/api/networking/ipaddress';
import type { Clock } from '@kruise/values/clock';
import type { ObjectStorage } from '../objects/object-storage.ts';
import { type ClusterIPs, type Owner, Unavailable } from './cluster-ips.ts';
import type { NodePorts } from './node-ports.ts';

/** Grace period for recent allocations: another server may be about to write their Service. */
const graceMs = 60_000;

type Options = {
  readonly services: ObjectStorage;
  readonly addresses: ObjectStorage;
  readonly clusterIPs: ClusterIPs;
  readonly nodePorts: NodePorts;
  readonly clock: Clock;
};

/** Repair loop: reconciles the allocations with the existing Services, after a crash between the two writes. */
export async function repairAllocations({ services, addresses, clusterIPs, nodePorts, clock }: Options): Promise<void> {
  const used = new Map<string, Owner>();
  for (const { object } of services.cache.list({ keyPrefix: services.prefix })) {
    const { metadata, spec = {} } = object as unknown as Service;
    const owner = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    if (spec.type !== 'ExternalName' && !isHeadless(spec)) for (const ip of spec.clusterIPs ?? []) used.set(ip, owner);
    if (needsNodePorts(spec))
      for (const { nodePort } of spec.ports ?? []) if (nodePort) used.set(`:${nodePort}`, owner);
    if (spec.healthCheckNodePort) used.set(`:${spec.healthCheckNodePort}`, owner);
  }
  const recorded = new Set<string>();
  const isOwnedByService = (id: string, { namespace, name }: Owner) => {
    const owner = used.get(id);
    return owner?.namespace === namespace && owner.name === name;
  };

  for (const { object } of addresses.cache.list({ keyPrefix: addresses.prefix })) {
    const { metadata, spec } = object as unknown as IPAddress;
    if (spec?.parentRef?.resource !== 'services') continue;
    const owner = { namespace: spec.parentRef.namespace ?? '', name: spec.parentRef.name ?? '' };
    const address = metadata.name ?? '';
    const ageMs = clock.now() - Date.parse(metadata.creationTimestamp ?? '');
    if (isOwnedByService(address, owner)) recorded.add(address);
    else if (ageMs > graceMs) await clusterIPs.release(address, owner);
  }
  for (const { port, owner, takenAtMs } of await nodePorts.all()) {
    if (isOwnedByService(`:${port}`, owner)) recorded.add(`:${port}`);
    else if (clock.now() - takenAtMs > graceMs) await nodePorts.release(port, owner);
  }
  for (const [id, owner] of used) if (!recorded.has(id)) await record(id, owner, clusterIPs, nodePorts);
}

async function record(id: string, owner: Owner, clusterIPs: ClusterIPs, nodePorts: NodePorts): Promise<void> {
  try {
    if (id.startsWith(':')) await nodePorts.allocate(Number(id.slice(1)), owner);
    else await clusterIPs.allocate(id, owner);
  } catch (error) {
    // A Service keeps its addresses and ports, even if two Services have the same, or the range has changed.
    if (!(error instanceof Unavailable)) throw error;
  }
}
