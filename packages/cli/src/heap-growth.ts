import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { type Clock, every } from '@kruise/values/clock';

/** The memory objects are held in, and how it may grow. */
export type Heap = {
  usedBytes(): number;
  /** By how much what is held may grow before garbage is collected; 0 leaves that to V8. */
  growBy(percent: number): void;
};

const periodMs = 2000;
/** From here on room for garbage counts; below, it is cheap, and to have little of it costs time. */
const largeBytes = 320 * 1024 * 1024;
const largePercent = 30;

/**
 * Bounds how far a large heap grows between two collections. V8 by itself goes by how fast objects are made: after
 * 5,000 Pods had been updated it took 700 MB for 400 before it looked what of it was garbage.
 */
export function boundHeapGrowth(clock: Clock, signal: AbortSignal, heap: Heap = heapOfProcess()): void {
  let percent = 0;
  const look = () => {
    const wanted = heap.usedBytes() > largeBytes ? largePercent : 0;
    if (wanted === percent) return;
    percent = wanted;
    heap.growBy(percent);
  };
  every(clock, periodMs, look, signal);
}

function heapOfProcess(): Heap {
  return {
    usedBytes: () => getHeapStatistics().used_heap_size,
    growBy: (percent) => setFlagsFromString(`--heap-growing-percent=${percent}`),
  };
}
