import { type Service, type ServiceSpec, service as serviceKind } from '@kruise/api/core/service';
import { keepAllocations, mirrorClusterIPs } from '@kruise/api/core/service.strategy';
import { isHeadless, needsHealthCheck, needsNodePorts } from '@kruise/api/core/service-type';
import { internalError, invalid as invalidObject, unclassified } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import { type Cause, invalid } from '@kruise/schema/field-error';
import type { RequestContext } from '../context.ts';
import type { Reservation, Strategy } from '../resource.ts';
import { type ClusterIPs, type Family, type Owner, Unavailable } from './cluster-ips.ts';
import { fillInFamilies } from './ip-families.ts';
import type { NodePorts } from './node-ports.ts';

type Pools = {
  readonly clusterIPs: ClusterIPs;
  readonly nodePorts: NodePorts;
  /** IP families of the ranges, the primary first. */
  readonly families: readonly Family[];
};

/** Allocations of a write so far, and those to release when the write is done. */
type Allocations = {
  readonly owner: Owner;
  readonly dryRun: boolean;
  readonly undo: (() => Promise<void>)[];
  readonly releases: (() => Promise<void>)[];
};

/** Allocates addresses and ports when Services are written, and releases them when Services are deleted. */
export function serviceAllocation(pools: Pools): Required<Pick<Strategy, 'reserve' | 'released'>> {
  const { clusterIPs, nodePorts } = pools;
  return {
    async reserve(draft, old, context) {
      // The strategy of Services is only called with Services.
      const [service, before] = [draft as unknown as Draft<Service>, old as unknown as Service | undefined];
      const allocations: Allocations = {
        owner: { namespace: draft.metadata.namespace ?? '', name: draft.metadata.name ?? '' },
        dryRun: context.query.getAll('dryRun').length > 0,
        undo: [],
        releases: [],
      };
      const reservation = reservationOf(allocations);
      try {
        if (before) keepAllocations(service, before);
        mirrorClusterIPs(service, before);
        rejectInvalid(service, fillInFamilies(service, before, pools.families));
        await allocateAddresses(pools, service, before, allocations);
        await allocatePorts(pools, service, before, allocations);
        return reservation;
      } catch (error) {
        await reservation.rollback();
        throw error;
      }
    },
    async released(object, _context: RequestContext) {
      const { metadata, spec = {} } = object as unknown as Service;
      const owner = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
      const addresses = spec.type === 'ExternalName' || isHeadless(spec) ? [] : (spec.clusterIPs ?? []);
      const ports = [...nodePortsOf(spec), ...(spec.healthCheckNodePort ? [spec.healthCheckNodePort] : [])];
      await Promise.all([
        ...addresses.map((address) => clusterIPs.release(address, owner)),
        ...ports.map((port) => nodePorts.release(port, owner)),
      ]);
    },
  };
}

function reservationOf({ undo, releases, dryRun }: Allocations): Reservation {
  const all = async (steps: readonly (() => Promise<void>)[]) => {
    if (!dryRun) await Promise.all(steps.map((step) => step()));
  };
  return { commit: () => all(releases), rollback: () => all(undo) };
}

function rejectInvalid({ metadata }: Pick<Service, 'metadata'>, causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalidObject(serviceKind, metadata.name ?? '', causes);
}

async function allocateAddresses(
  { clusterIPs }: Pools,
  service: Draft<Service>,
  old: Service | undefined,
  allocations: Allocations,
): Promise<void> {
  const spec = service.spec ?? {};
  const before = old?.spec;
  const had = before && before.type !== 'ExternalName' ? (before.clusterIPs ?? []) : [];
  if (before && isHeadless(before)) return;
  if (spec.type === 'ExternalName') return releaseAddresses(clusterIPs, had, allocations);
  if (isHeadless(spec)) return;
  const families = (spec.ipFamilies ?? []) as Family[];
  const addresses = [...(spec.clusterIPs ?? [])];
  for (const [index, family] of families.entries()) {
    if (index < had.length) continue;
    addresses[index] = await allocateAddress(clusterIPs, family, addresses, index, service, allocations);
  }
  const [first] = addresses;
  if (first) {
    spec.clusterIPs = addresses;
    spec.clusterIP = first;
  }
  releaseAddresses(clusterIPs, families.length < had.length ? had.slice(families.length) : [], allocations);
}

function releaseAddresses(pool: ClusterIPs, addresses: readonly string[], { releases, owner }: Allocations): void {
  for (const address of addresses) releases.push(() => pool.release(address, owner));
}

async function allocateAddress(
  pool: ClusterIPs,
  family: Family,
  addresses: readonly string[],
  index: number,
  service: Draft<Service>,
  { owner, dryRun, undo }: Allocations,
): Promise<string> {
  const wanted = addresses[index];
  try {
    if (!wanted) {
      const found = dryRun ? pool.findAvailable(family) : await pool.allocateAny(family, owner);
      undo.push(() => pool.release(found, owner));
      return found;
    }
    if (dryRun) pool.checkAvailable(wanted);
    else await pool.allocate(wanted, owner);
    undo.push(() => pool.release(wanted, owner));
    return wanted;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    if (!wanted) throw internalError(`failed to allocate a serviceIP: ${error.message}`);
    const detail = `failed to allocate IP ${wanted}: ${error.message}`;
    throw invalidObject(serviceKind, service.metadata.name ?? '', [invalid('spec.clusterIPs', addresses, detail)]);
  }
}

function nodePortsOf({ ports = [] }: ServiceSpec): readonly number[] {
  return [...new Set(ports.flatMap(({ nodePort }) => (nodePort ? [nodePort] : [])))];
}

function wantsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
}

async function allocatePorts(
  { nodePorts: pool }: Pools,
  service: Draft<Service>,
  old: Service | undefined,
  allocations: Allocations,
): Promise<void> {
  const spec = (service.spec ??= {});
  const before = old?.spec ?? {};
  const had = needsNodePorts(before) ? nodePortsOf(before) : [];
  if (needsNodePorts(spec)) await allocateNodePorts(pool, service, spec, had, !old, allocations);
  const kept = needsNodePorts(spec) ? nodePortsOf(spec) : [];
  for (const port of had)
    if (!kept.includes(port)) allocations.releases.push(() => pool.release(port, allocations.owner));
  await allocateHealthCheckPort(pool, spec, before, allocations);
}

/**
 * One node port can serve a port number in several protocols. On an update, the Service already owns its existing node
 * ports.
 */
async function allocateNodePorts(
  pool: NodePorts,
  service: Draft<Service>,
  spec: Draft<ServiceSpec>,
  had: readonly number[],
  isNew: boolean,
  allocations: Allocations,
): Promise<void> {
  const ports = spec.ports ?? [];
  const allocated = new Set(had);
  const byNumber = new Map<number, number>();
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    if (!port.nodePort && !wantsNodePorts(spec)) continue;
    if (isNew && !port.nodePort) {
      const shared =
        byNumber.get(port.port) ?? ports.find((other) => other.port === port.port && other.nodePort)?.nodePort;
      if (shared) port.nodePort = shared;
    }
    if (!port.nodePort) {
      port.nodePort = await allocateAnyPort(pool, 'a nodePort', allocations);
      allocated.add(port.nodePort);
    } else if (!allocated.has(port.nodePort)) {
      await allocatePort(pool, port.nodePort, service, index, allocations);
      allocated.add(port.nodePort);
    }
    if (!byNumber.has(port.port)) byNumber.set(port.port, port.nodePort);
    const identity = `{${port.protocol ?? ''} ${port.nodePort}}`;
    if (!isNew && seen.has(identity)) throw unclassified(`duplicate nodePort: ${identity}`);
    seen.add(identity);
  }
}

async function allocateAnyPort(pool: NodePorts, what: string, { owner, dryRun, undo }: Allocations): Promise<number> {
  try {
    const port = dryRun ? await pool.findAvailable() : await pool.allocateAny(owner);
    undo.push(() => pool.release(port, owner));
    return port;
  } catch (error) {
    if (error instanceof Unavailable) throw internalError(`failed to allocate ${what}: ${error.message}`);
    throw error;
  }
}

async function allocatePort(
  pool: NodePorts,
  port: number,
  { metadata }: Draft<Service>,
  index: number,
  { owner, dryRun, undo }: Allocations,
): Promise<void> {
  try {
    if (dryRun) await pool.checkAvailable(port);
    else await pool.allocate(port, owner);
    undo.push(() => pool.release(port, owner));
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const cause = invalid(`spec.ports[${index}].nodePort`, port, error.message);
    throw invalidObject(serviceKind, metadata.name ?? '', [cause]);
  }
}

async function allocateHealthCheckPort(
  pool: NodePorts,
  spec: Draft<ServiceSpec>,
  before: ServiceSpec,
  allocations: Allocations,
): Promise<void> {
  const { owner, dryRun, undo, releases } = allocations;
  const had = needsHealthCheck(before) ? before.healthCheckNodePort : undefined;
  if (!needsHealthCheck(spec)) {
    if (had) releases.push(() => pool.release(had, owner));
    return;
  }
  if (needsHealthCheck(before)) return;
  const wanted = spec.healthCheckNodePort;
  if (!wanted) {
    spec.healthCheckNodePort = await allocateAnyPort(pool, 'a HealthCheck NodePort 0', allocations);
    return;
  }
  try {
    if (dryRun) await pool.checkAvailable(wanted);
    else await pool.allocate(wanted, owner);
    undo.push(() => pool.release(wanted, owner));
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${error.message}`);
  }
}
