/**
 * Seats for requests at work, shared by priority levels. Each level is sure of its minimum, whenever it needs it; what
 * nobody is sure of goes to whoever asks, up to the level's maximum. So a quiet level lends what it does not use, and
 * has it back as the borrowers finish.
 *
 * Kubernetes lends by a plan that it makes anew every ten seconds. Lending at the moment of asking needs no plan and no
 * timer, and leaves no seat empty while someone waits for it.
 */
export type Seats = {
  readonly total: number;
  /** A level's share, or the change of it. */
  allot(level: string, share: SeatShare): LevelSeats;
};

export type SeatShare = { readonly minimum: number; readonly maximum: number };

export type LevelSeats = {
  readonly inUse: number;
  take(count: number): boolean;
  giveBack(count: number): void;
  /** Calls back whenever a seat is free that this level may have been waiting for, until told otherwise. */
  whenFree(callback: (() => void) | undefined): void;
};

type Level = { share: SeatShare; inUse: number; whenFree: (() => void) | undefined };

export function createSeats(total: number): Seats {
  const levels = new Map<string, { readonly level: Level; readonly seats: LevelSeats }>();
  const waiting = new Set<Level>();
  let inUse = 0;
  // What levels are sure of and do not use: nobody else may have these.
  let reserved = 0;

  const unused = ({ share, inUse: used }: Level) => Math.max(0, share.minimum - used);

  function seatsOf(level: Level): LevelSeats {
    return {
      get inUse() {
        return level.inUse;
      },
      take(count) {
        const own = Math.min(count, unused(level));
        const isWithin = level.inUse + count <= level.share.maximum && inUse + reserved + count - own <= total;
        // A level that has nothing at all is never shut out, nor is a request wider than its level.
        if (!isWithin && level.inUse > 0) return false;
        reserved -= own;
        level.inUse += count;
        inUse += count;
        return true;
      },
      giveBack(count) {
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
    allot(name, share) {
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
