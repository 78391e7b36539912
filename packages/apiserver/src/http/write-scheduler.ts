import { type BatchQueue, type BatchScheduler, createBatchScheduler } from '../batch-scheduler.ts';

/**
 * Writes per batch, some ten milliseconds of work. With half as many, the smaller store transactions cost more than the
 * batching gains.
 */
const writesPerBatch = 16;

/**
 * Batches concurrent writes: a few start at a time. The first are stored and answered while the next are processed, so
 * that clients continue meanwhile. If all started together, all would be answered together, and clients and server
 * would alternately wait for each other.
 */
export function createWriteScheduler(): BatchScheduler<void> {
  return createBatchScheduler(writesPerBatch, createFifoQueue());
}

function createFifoQueue(): BatchQueue<void> {
  let waiting: (() => void)[] = [];
  return {
    add: (_, start) => waiting.push(start),
    next(limit) {
      const due = waiting.slice(0, limit);
      waiting = waiting.slice(limit);
      return due;
    },
  };
}
