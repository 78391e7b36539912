import { Buffer } from 'node:buffer';
import { createBatchRunner } from '@kruise/values/scheduling/batch-scheduler';

/**
 * Writes to watchers in batches of a few watchers, and lets requests run in between. All events that a watcher has
 * pending by then go out in one write, so that the cost per event falls as load increases.
 */
export interface FanOut {
  /** Schedules a watcher that has pending events and is not scheduled yet. */
  schedule(serve: () => void): void;
  /** Concatenates frames. Most watchers of a kind receive the same frames, so the result is memoized. */
  join(frames: readonly Uint8Array[]): Uint8Array;
}

/** Watchers per batch: some milliseconds of work. */
const watchersPerBatch = 100;

export function createFanOut(): FanOut {
  let lastFrames: readonly Uint8Array[] = [];
  let lastJoined: Uint8Array = Buffer.alloc(0);

  return {
    schedule: createBatchRunner(watchersPerBatch),
    join(frames) {
      if (frames.length === 1) return frames[0]!;
      if (frames.length !== lastFrames.length || !frames.every((frame, index) => frame === lastFrames[index])) {
        lastFrames = frames;
        lastJoined = Buffer.concat(frames);
      }
      return lastJoined;
    },
  };
}
