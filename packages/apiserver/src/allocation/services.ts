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
type Ledger = {
  readonly owner: Owner;
  readonly dryRun: boolean;
  readonly undo: (() => Promise<void>)[];
  readonly giveUp: (() => Promise<void>)[];
};

/** Allocates addresses and ports when Services are written, and releases them when Services are deleted. */
export function serviceAllocation(pools: Pools): Required<Pick<Strategy, 'reserve' | 'released'>> {
  const { clusterIPs, nodePorts } = pools;
  return {
    async reserve(draft, old, context) {
      // The strategy of Services is only called with Services.
      const [service, before] = [draft as unknown as Draft<Service>, old as unknown as Service | undefined];
      const ledger: Ledger = {
        owner: { namespace: draft.metadata.namespace ?? '', name: draft.metadata.name ?? '' },
        dryRun: context.query.getAll('dryRun').length > 0,
        undo: [],
        giveUp: [],
      };
      const reservation = reservationOf(ledger);
      try {
        if (before) keepAllocations(service, before);
        mirrorClusterIPs(service, before);
        refuse(service, fillInFamilies(service, before, pools.families));
        await takeAddresses(pools, service, before, ledger);
        await takePorts(pools, service, before, ledger);
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

function reservationOf({ undo, giveUp, dryRun }: Ledger): Reservation {
  const all = async (steps: readonly (() => Promise<void>)[]) => {
    if (!dryRun) await Promise.all(steps.map((step) => step()));
  };
  return { commit: () => all(giveUp), rollback: () => all(undo) };
}

function refuse({ metadata }: Pick<Service, 'metadata'>, causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalidObject(serviceKind, metadata.name ?? '', causes);
}

async function takeAddresses(
  { clusterIPs }: Pools,
  service: Draft<Service>,
  old: Service | undefined,
  ledger: Ledger,
): Promise<void> {
  const spec = service.spec ?? {};
  const before = old?.spec;
  const had = before && before.type !== 'ExternalName' ? (before.clusterIPs ?? []) : [];
  if (before && isHeadless(before)) return;
  if (spec.type === 'ExternalName') return giveUpAddresses(clusterIPs, had, ledger);
  if (isHeadless(spec)) return;
  const families = (spec.ipFamilies ?? []) as Family[];
  const addresses = [...(spec.clusterIPs ?? [])];
  for (const [index, family] of families.entries()) {
    if (index < had.length) continue;
    addresses[index] = await takeAddress(clusterIPs, family, addresses, index, service, ledger);
  }
  const [first] = addresses;
  if (first) {
    spec.clusterIPs = addresses;
    spec.clusterIP = first;
  }
  giveUpAddresses(clusterIPs, families.length < had.length ? had.slice(families.length) : [], ledger);
}

function giveUpAddresses(pool: ClusterIPs, addresses: readonly string[], { giveUp, owner }: Ledger): void {
  for (const address of addresses) giveUp.push(() => pool.release(address, owner));
}

async function takeAddress(
  pool: ClusterIPs,
  family: Family,
  addresses: readonly string[],
  index: number,
  service: Draft<Service>,
  { owner, dryRun, undo }: Ledger,
): Promise<string> {
  const wanted = addresses[index];
  try {
    if (!wanted) {
      const found = dryRun ? pool.offerAny(family) : await pool.takeAny(family, owner);
      undo.push(() => pool.release(found, owner));
      return found;
    }
    if (dryRun) pool.offer(wanted);
    else await pool.take(wanted, owner);
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

async function takePorts(
  { nodePorts: pool }: Pools,
  service: Draft<Service>,
  old: Service | undefined,
  ledger: Ledger,
): Promise<void> {
  const spec = (service.spec ??= {});
  const before = old?.spec ?? {};
  const had = needsNodePorts(before) ? nodePortsOf(before) : [];
  if (needsNodePorts(spec)) await takeNodePorts(pool, service, spec, had, !old, ledger);
  const kept = needsNodePorts(spec) ? nodePortsOf(spec) : [];
  for (const port of had) if (!kept.includes(port)) ledger.giveUp.push(() => pool.release(port, ledger.owner));
  await takeHealthCheckPort(pool, spec, before, ledger);
}

/**
 * One node port can serve a port number in several protocols. On an update, the Service already owns its existing node
 * ports.
 */
async function takeNodePorts(
  pool: NodePorts,
  service: Draft<Service>,
  spec: Draft<ServiceSpec>,
  had: readonly number[],
  isNew: boolean,
  ledger: Ledger,
): Promise<void> {
  const ports = spec.ports ?? [];
  const taken = new Set(had);
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
      port.nodePort = await takeAnyPort(pool, 'a nodePort', ledger);
      taken.add(port.nodePort);
    } else if (!taken.has(port.nodePort)) {
      await takePort(pool, port.nodePort, service, index, ledger);
      taken.add(port.nodePort);
    }
    if (!byNumber.has(port.port)) byNumber.set(port.port, port.nodePort);
    const identity = `{${port.protocol ?? ''} ${port.nodePort}}`;
    if (!isNew && seen.has(identity)) throw unclassified(`duplicate nodePort: ${identity}`);
    seen.add(identity);
  }
}

async function takeAnyPort(pool: NodePorts, what: string, { owner, dryRun, undo }: Ledger): Promise<number> {
  try {
    const port = dryRun ? await pool.offerAny() : await pool.takeAny(owner);
    undo.push(() => pool.release(port, owner));
    return port;
  } catch (error) {
    if (error instanceof Unavailable) throw internalError(`failed to allocate ${what}: ${error.message}`);
    throw error;
  }
}

async function takePort(
  pool: NodePorts,
  port: number,
  { metadata }: Draft<Service>,
  index: number,
  { owner, dryRun, undo }: Ledger,
): Promise<void> {
  try {
    if (dryRun) await pool.offer(port);
    else await pool.take(port, owner);
    undo.push(() => pool.release(port, owner));
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const cause = invalid(`spec.ports[${index}].nodePort`, port, error.message);
    throw invalidObject(serviceKind, metadata.name ?? '', [cause]);
  }
}

async function takeHealthCheckPort(
  pool: NodePorts,
  spec: Draft<ServiceSpec>,
  before: ServiceSpec,
  ledger: Ledger,
): Promise<void> {
  const { owner, dryRun, undo, giveUp } = ledger;
  const had = needsHealthCheck(before) ? before.healthCheckNodePort : undefined;
  if (!needsHealthCheck(spec)) {
    if (had) giveUp.push(() => pool.release(had, owner));
    return;
  }
  if (needsHealthCheck(before)) return;
  const wanted = spec.healthCheckNodePort;
  if (!wanted) {
    spec.healthCheckNodePort = await takeAnyPort(pool, 'a HealthCheck NodePort 0', ledger);
    return;
  }
  try {
    if (dryRun) await pool.offer(wanted);
    else await pool.take(wanted, owner);
    undo.push(() => pool.release(wanted, owner));
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${error.message}`);
  }
}
