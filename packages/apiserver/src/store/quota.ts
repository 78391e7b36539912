import { SpaceExceededError } from './store.ts';

/** The alarm of a store that has reached its quota. */
export type SpaceAlarm = { readonly isRaised: boolean; readonly sizeBytes: number; readonly quotaBytes: number };

export type QuotaOptions = {
  readonly quotaBytes: number;
  /** The space taken up, including writes under way. */
  readonly sizeBytes: () => number;
  /** Compacts superseded versions. */
  readonly compact: () => Promise<void>;
  readonly onAlarm: (alarm: SpaceAlarm) => void;
};

/** The alarm ends below this part of the quota, so that it does not come and go with every write. */
const disarmedPart = 0.9;

/**
 * A limit on the size of a store, like etcd's. A put that does not fit raises the alarm, and while it is raised all puts
 * are refused. Deletions go on; what they free is compacted at once, and the alarm ends by itself.
 */
export function createQuota({ quotaBytes, sizeBytes, compact, onAlarm }: QuotaOptions) {
  let isRaised = false;
  let isCompacting = false;
  let isOutdated = false;

  function set(raised: boolean): void {
    isRaised = raised;
    onAlarm({ isRaised, sizeBytes: sizeBytes(), quotaBytes });
  }

  async function relieve(): Promise<void> {
    if (isCompacting) {
      isOutdated = true;
      return;
    }
    isCompacting = true;
    try {
      do {
        isOutdated = false;
        await compact();
        if (sizeBytes() <= quotaBytes * disarmedPart) set(false);
      } while (isOutdated && isRaised);
    } finally {
      isCompacting = false;
    }
  }

  // A store that cannot compact is closed or broken, which its next write reports.
  const relieveLater = () => void relieve().catch(() => {});

  return {
    /** Refuses a put that does not fit. */
    admit(bytes: number): void {
      if (!isRaised && sizeBytes() + bytes > quotaBytes) {
        set(true);
        relieveLater();
      }
      if (isRaised) throw new SpaceExceededError();
    },
    /** Compacts after a write, which can only be a deletion while the alarm is raised. */
    written(): void {
      if (isRaised) relieveLater();
    },
  };
}
