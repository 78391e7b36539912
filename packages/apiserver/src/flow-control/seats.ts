/**
 * Seats of executing requests, shared by the priority levels. Each level always gets its minimum; the remaining seats
 * go to any level that needs them, up to its maximum. An idle level therefore lends its unused seats and gets them back
 * when the borrowers finish.
 *
 * Kubernetes recomputes borrowing every ten seconds. Lending on demand needs no plan and no timer, and leaves no seat
 * idle while a request waits.
 */
export type Seats = {
  readonly total: number;
  /** Sets or changes the share of a level. */
  setShare(level: string, share: SeatShare): LevelSeats;
};

export type SeatShare = { readonly minimum: number; readonly maximum: number };

export type LevelSeats = {
  readonly inUse: number;
  acquire(count: number): boolean;
  release(count: number): void;
  /** Calls back whenever a seat that this level may wait for becomes free; undefined unregisters. */
  whenFree(callback: (() => void) | undefined): void;
};

type Level = { share: SeatShare; inUse: number; whenFree: (() => void) | undefined };

export function createSeats(total: number): Seats {
  const levels = new Map<string, { readonly level: Level; readonly seats: LevelSeats }>();
  const waiting = new Set<Level>();
  let inUse = 0;
  // Guaranteed seats that their levels do not use; no other level may take them.
  let reserved = 0;

  const unused = ({ share, inUse: used }: Level) => Math.max(0, share.minimum - used);

  function seatsOf(level: Level): LevelSeats {
    return {
      get inUse() {
        return level.inUse;
      },
      acquire(count) {
        const own = Math.min(count, unused(level));
        const isWithin = level.inUse + count <= level.share.maximum && inUse + reserved + count - own <= total;
        // A level without executing requests is never blocked, nor is a request that is wider than its level.
        if (!isWithin && level.inUse > 0) return false;
        reserved -= own;
        level.inUse += count;
        inUse += count;
        return true;
      },
      release(count) {
        reserved -= unused(level);
        level.inUse -= count;
        reserved += unused(level);
        inUse -= count;
        for (const each of waiting) each.whenFree?.();
      },
      whenFree(callback) {
        level.whenFree = callback;
        if (callback) waiting.add(level);
        else waiting.delete(level);
      },
    };
  }

  return {
    total,
    setShare(name, share) {
      const known = levels.get(name);
      if (known) {
        reserved -= unused(known.level);
        known.level.share = share;
        reserved += unused(known.level);
        return known.seats;
      }
      const level: Level = { share, inUse: 0, whenFree: undefined };
      const seats = seatsOf(level);
      levels.set(name, { level, seats });
      reserved += unused(level);
      return seats;
    },
  };
}
