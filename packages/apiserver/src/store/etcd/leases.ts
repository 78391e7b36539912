import type { Clock } from '@kruise/values/clock';

/**
 * Leases for keys with a time to live. A lease of their own for each of thousands of Events an hour would weigh on
 * etcd, so that keys of the same time to live written shortly after one another share one. A key may so live longer
 * than asked, by a twentieth of that at most, never shorter.
 */
export interface Leases {
  /** A lease that lasts for at least this long from now. */
  leaseFor(ttlSeconds: number): Promise<bigint>;
  /** Tells that etcd does not know a lease, so that it is not given out again. */
  forget(lease: bigint): void;
}

type SharedLease = {
  readonly granted: Promise<bigint>;
  id: bigint | undefined;
  readonly lastUseMs: number;
  uses: number;
};

const maxSharedSeconds = 60;
/** When a lease ends, etcd deletes all its keys in one go. */
const maxKeys = 1000;

export function createLeases(clock: Clock, grant: (ttlSeconds: number) => Promise<bigint>): Leases {
  const byTtl = new Map<number, SharedLease>();

  return {
    leaseFor(ttlSeconds) {
      const found = byTtl.get(ttlSeconds);
      if (found && clock.now() < found.lastUseMs && found.uses < maxKeys) {
        found.uses++;
        return found.granted;
      }
      const sharedSeconds = Math.min(maxSharedSeconds, Math.floor(ttlSeconds / 20));
      const lease: SharedLease = {
        granted: grant(Math.ceil(ttlSeconds) + sharedSeconds),
        id: undefined,
        lastUseMs: clock.now() + sharedSeconds * 1000,
        uses: 1,
      };
      byTtl.set(ttlSeconds, lease);
      lease.granted.then(
        (id) => {
          lease.id = id;
        },
        () => {
          if (byTtl.get(ttlSeconds) === lease) byTtl.delete(ttlSeconds);
        },
      );
      return lease.granted;
    },
    forget(lease) {
      for (const [ttlSeconds, { id }] of byTtl) if (id === lease) byTtl.delete(ttlSeconds);
    },
  };
}
