import { SpaceExceededError } from './store.ts';

/** Space alarm of a store that has reached its quota. */
export type SpaceAlarm = { readonly isRaised: boolean; readonly sizeBytes: number; readonly quotaBytes: number };

export type QuotaOptions = {
  readonly quotaBytes: number;
  /** Returns the used space, including writes in progress. */
  readonly sizeBytes: () => number;
  /** Compacts superseded versions. */
  readonly compact: () => Promise<void>;
  readonly onAlarm: (alarm: SpaceAlarm) => void;
};

/** Fraction of the quota below which the alarm is disarmed, so that it does not toggle with every write. */
const disarmFraction = 0.9;

/**
 * Quota of a store, like etcd's. A put that does not fit raises the alarm, and all puts fail while it is raised.
 * Deletions still work; their space is compacted at once, and the alarm is disarmed automatically.
 */
export function createQuota({ quotaBytes, sizeBytes, compact, onAlarm }: QuotaOptions) {
  let isRaised = false;
  let isCompacting = false;
  let isOutdated = false;

  function set(raised: boolean): void {
    isRaised = raised;
    onAlarm({ isRaised, sizeBytes: sizeBytes(), quotaBytes });
  }

  async function compactAndDisarm(): Promise<void> {
    if (isCompacting) {
      isOutdated = true;
      return;
    }
    isCompacting = true;
    try {
      do {
        isOutdated = false;
        await compact();
        if (sizeBytes() <= quotaBytes * disarmFraction) set(false);
      } while (isOutdated && isRaised);
    } finally {
      isCompacting = false;
    }
  }

  // A store that cannot compact is closed or broken, which its next write reports.
  const compactInBackground = () => void compactAndDisarm().catch(() => {});

  return {
    /** Rejects a put that does not fit. */
    admit(bytes: number): void {
      if (!isRaised && sizeBytes() + bytes > quotaBytes) {
        set(true);
        compactInBackground();
      }
      if (isRaised) throw new SpaceExceededError();
    },
    /** Compacts after a write, which can only be a deletion while the alarm is raised. */
    written(): void {
      if (isRaised) compactInBackground();
    },
  };
}
