import { type BatchScheduler, createBatchScheduler, createFifoQueue } from '@kruise/values/scheduling/batch-scheduler';

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
