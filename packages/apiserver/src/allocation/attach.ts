import { familyOf } from '@kruise/api/core/service.validate';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { ResourceRegistry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Store } from '../store/store.ts';
import { createClusterIPs } from './cluster-ips.ts';
import { createNodePorts, type PortRange } from './node-ports.ts';
import { repairAllocations } from './repair.ts';
import { serviceAllocation } from './services.ts';

export type AllocationOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly serviceRanges: readonly string[];
  readonly nodePortRange?: PortRange;
};

const usualPorts: PortRange = { first: 30000, last: 32767 };

/**
 * Registers the allocation of cluster IPs and node ports for Services, and repairs allocations that a crash left
 * behind.
 */
export async function allocateForServices(resources: ResourceRegistry, options: AllocationOptions): Promise<void> {
  const { store, clock, random, serviceRanges, nodePortRange = usualPorts } = options;
  const storageOf = (group: string, plural: string) => required(resources.find(group, 'v1', plural)).storage;
  const services = required(resources.find('', 'v1', 'services'));
  const endpoints = storageOf('', 'endpoints');
  const addresses = storageOf('networking.k8s.io', 'ipaddresses');
  const clusterIPs = createClusterIPs({
    addresses,
    ranges: storageOf('networking.k8s.io', 'servicecidrs'),
    configured: serviceRanges,
    clock,
    random,
  });
  const nodePorts = createNodePorts(store, random, () => clock.now(), nodePortRange);
  const families = [...new Set(serviceRanges.map((range) => familyOf(range.split('/')[0]!)))];
  const { reserve, released } = serviceAllocation({ clusterIPs, nodePorts, families });
  resources.add({
    ...services,
    strategy: {
      ...services.strategy,
      reserve,
      async released(service, context) {
        await released(service, context);
        // Otherwise the next Service with the same name would use the stale Endpoints.
        const { namespace, name = '' } = service.metadata;
        const left = endpoints.cache.get(endpoints.keyOf(namespace, name));
        if (left) await endpoints.remove(left);
      },
    },
  });
  await repairAllocations({ services: services.storage, addresses, clusterIPs, nodePorts, clock });
}

function required(resource: Resource | undefined): Resource {
  if (!resource) throw new Error('a resource Services depend on is missing');
  return resource;
}
