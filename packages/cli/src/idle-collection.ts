import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, every } from '@kruise/values/clock';
import { memoryFreer } from './free-memory.ts';

/** What is known of the process, and how its garbage is collected. */
export type Garbage = {
  /** The processor time used so far. */
  processorMs(): number;
  /** The memory taken for objects, garbage included. */
  heapBytes(): number;
  collect(): void;
};

const periodMs = 10_000;
/** Below this share of a processor what a pause holds up is soon made up for. */
const idleShare = 0.2;
/** Less than this is not worth a pause, and the longer the pause the more has to come of it. */
const worthBytes = 16 * 1024 * 1024;
const worthShare = 0.35;

/**
 * Gives memory back when there is nothing to do. V8 collects garbage when it needs the room: after a burst of work it
 * would keep twice what it holds until there is another.
 */
export function collectWhenIdle(clock: Clock, signal: AbortSignal, garbage: Garbage = garbageOfProcess()): void {
  let usedMs = garbage.processorMs();
  let settledBytes = 0;
  const look = () => {
    const nowUsedMs = garbage.processorMs();
    const isIdle = nowUsedMs - usedMs < periodMs * idleShare;
    usedMs = nowUsedMs;
    if (isIdle && garbage.heapBytes() > settledBytes * (1 + worthShare) + worthBytes) {
      garbage.collect();
      settledBytes = garbage.heapBytes();
      usedMs = garbage.processorMs();
    }
  };
  every(clock, periodMs, look, signal);
}

function garbageOfProcess(): Garbage {
  // There is no other way to the collector for a program that was not started with this flag.
  setFlagsFromString('--expose-gc');
  // By itself V8 moves 12 MB to save memory, which leaves most pages as empty as they are. What is moved is there twice
  // for a moment, so there is a bound. Older versions do not have the setting.
  if (Number.parseInt(process.versions.v8, 10) >= 14) {
    setFlagsFromString('--compaction-max-evacuated-bytes-mb-for-reduce-memory=128');
  }
  const collect: (options: object) => void = runInNewContext('gc');
  const freeMemory = memoryFreer();
  return {
    collect() {
      // As thorough as V8 is before it gives up: a plain collection leaves pages half empty.
      collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
      freeMemory();
    },
    processorMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
  };
}
