import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, every } from '@kruise/values/clock';
import { createMemoryReleaser } from './release-memory.ts';

/** CPU and heap usage of the process, and its garbage collector. */
export type Garbage = {
  /** CPU time used so far. */
  processorMs(): number;
  /** Size of the heap, garbage included. */
  heapBytes(): number;
  collect(): void;
};

const periodMs = 10_000;
/** CPU share below which a collection pause delays little work. */
const idleShare = 0.2;
/** Minimum heap growth that is worth a pause, absolute and relative to the heap after the last collection. */
const minGrowthBytes = 16 * 1024 * 1024;
const minGrowthShare = 0.35;

/**
 * Collects garbage when the process is idle. V8 collects only when it needs memory: after a burst of work it would keep
 * twice its live heap until the next burst.
 */
export function collectWhenIdle(clock: Clock, signal: AbortSignal, garbage: Garbage = garbageOfProcess()): void {
  let usedMs = garbage.processorMs();
  let settledBytes = 0;
  const check = () => {
    const nowUsedMs = garbage.processorMs();
    const isIdle = nowUsedMs - usedMs < periodMs * idleShare;
    usedMs = nowUsedMs;
    if (isIdle && garbage.heapBytes() > settledBytes * (1 + minGrowthShare) + minGrowthBytes) {
      garbage.collect();
      settledBytes = garbage.heapBytes();
      usedMs = garbage.processorMs();
    }
  };
  every(clock, periodMs, check, signal);
}

function garbageOfProcess(): Garbage {
  // A process that was started without this flag has no other access to the collector.
  setFlagsFromString('--expose-gc');
  // By default V8 evacuates at most 12 MB to reduce memory, which leaves most pages nearly empty. Evacuated objects
  // exist twice for a moment, so the limit stays finite. Older V8 versions lack this flag.
  if (Number.parseInt(process.versions.v8, 10) >= 14) {
    setFlagsFromString('--compaction-max-evacuated-bytes-mb-for-reduce-memory=128');
  }
  const collect: (options: object) => void = runInNewContext('gc');
  const freeMemory = createMemoryReleaser();
  return {
    collect() {
      // Last-resort collections compact the most: a plain collection leaves pages half empty.
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
