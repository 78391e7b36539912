import type { Random } from '@kruise/values/random';
import type { Store } from '../store/store.ts';
import { inRandomOrder, reservedBand } from './band.ts';
import { type Owner, Unavailable } from './cluster-ips.ts';

/** Allocator of node ports. Each allocated port is stored under its own key. */
export interface NodePorts {
  /** Allocates one port; throws `Unavailable`. */
  allocate(port: number, owner: Owner): Promise<void>;
  allocateAny(owner: Owner): Promise<number>;
  /** Checks a port without allocating it. */
  checkAvailable(port: number): Promise<void>;
  findAvailable(): Promise<number>;
  release(port: number, owner: Owner): Promise<void>;
  /** Returns the stored allocations, for repair. */
  all(): Promise<readonly { readonly port: number; readonly owner: Owner; readonly takenAtMs: number }[]>;
}

export type PortRange = { readonly first: number; readonly last: number };

const prefix = '/registry/ranges/servicenodeports/';
const bounds = { min: 16, max: 128 };

type Record = Owner & { readonly takenAtMs: number };

export function createNodePorts(store: Store, random: Random, now: () => number, range: PortRange): NodePorts {
  const { first, last } = range;
  const size = last - first + 1;
  const keyOf = (port: number) => `${prefix}${port}`;
  const recordOf = (value: Uint8Array): Record => JSON.parse(Buffer.from(value).toString());

  async function write(port: number, { namespace, name }: Owner): Promise<boolean> {
    const value = Buffer.from(JSON.stringify({ namespace, name, takenAtMs: now() } satisfies Record));
    return (await store.write({ key: keyOf(port), expected: 0, value })).ok;
  }

  const isFree = async (port: number) => (await store.get(keyOf(port))).entry === undefined;
  const alreadyAllocated = () => new Unavailable('provided port is already allocated');

  async function any(attempt: (port: number) => Promise<boolean>): Promise<number> {
    for (const offset of inRandomOrder(random, size, reservedBand(size, 32, bounds))) {
      if (await attempt(first + offset)) return first + offset;
    }
    throw new Unavailable('range is full');
  }

  return {
    async allocate(port, owner) {
      if (port < first || port > last) {
        const detail = `The range of valid ports is ${first}-${last}`;
        throw new Unavailable(`provided port is not in the valid range. ${detail}`);
      }
      if (!(await write(port, owner))) throw alreadyAllocated();
    },
    allocateAny: (owner) => any((port) => write(port, owner)),
    // Only an allocation attempt shows whether a port is in the range.
    async checkAvailable(port) {
      if (!(await isFree(port))) throw alreadyAllocated();
    },
    findAvailable: () => any(isFree),
    async release(port, { namespace, name }) {
      const { entry } = await store.get(keyOf(port));
      if (!entry) return;
      const record = recordOf(entry.value);
      if (record.namespace !== namespace || record.name !== name) return;
      await store.write({ key: entry.key, expected: entry.modRevision, delete: true });
    },
    async all() {
      const { entries } = await store.range({ prefix });
      return entries.map(({ key, value }) => {
        const { namespace, name, takenAtMs } = recordOf(value);
        return { port: Number(key.slice(prefix.length)), owner: { namespace, name }, takenAtMs };
      });
    },
  };
}
