import type { Clock } from '@kruise/values/clock';

/**
 * Leases for keys with a TTL. A separate lease for each of thousands of Events per hour would load etcd, so keys with
 * the same TTL that are written within a short time share a lease. A key may live up to a twentieth longer than
 * requested, never shorter.
 */
export interface Leases {
  /** Returns a lease that lasts at least this long from now. */
  leaseFor(ttlSeconds: number): Promise<bigint>;
  /** Discards a lease that etcd does not know, so that it is not reused. */
  discard(lease: bigint): void;
}

type SharedLease = {
  readonly granted: Promise<bigint>;
  id: bigint | undefined;
  readonly lastUseMs: number;
  uses: number;
};

const maxSharedSeconds = 60;
/** Maximum number of keys per lease: etcd deletes all keys of an expired lease at once. */
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
    discard(lease) {
      for (const [ttlSeconds, { id }] of byTtl) if (id === lease) byTtl.delete(ttlSeconds);
    },
  };
}
