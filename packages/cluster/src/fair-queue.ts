import type { ApiRequest, Transport } from '@kruise/client/transport';
import {
  type BatchScheduler,
  createBatchScheduler,
  createRoundRobinQueue,
} from '@kruise/values/scheduling/batch-scheduler';

/** Properties of a request that determine its order. */
type QueuedRequest = Pick<ApiRequest, 'query' | 'isBackground'>;

/**
 * Requests per event loop turn: some tens of milliseconds of work. With half as many, writes are committed in smaller
 * groups, which takes a tenth more CPU time.
 */
const requestsPerTurn = 128;
/** Minimum number of background requests per event loop turn, so that they do not starve. */
const backgroundShare = 8;

/**
 * Creates the fair queue of in-process requests. An in-process request completes without returning to the event loop,
 * and its response triggers the next one: thousands of them would block clients on sockets for seconds. Writers are
 * also queued fairly among themselves.
 */
export function createRequestQueue(): BatchScheduler<QueuedRequest> {
  // The field manager identifies the writer.
  const writerOf = ({ query, isBackground }: QueuedRequest) =>
    isBackground ? undefined : String(query?.['fieldManager'] ?? '');
  return createBatchScheduler(requestsPerTurn, createRoundRobinQueue(writerOf, backgroundShare));
}

/** Wraps a transport so that its requests go through the fair queue. Watches are long-running and bypass it. */
export function withFairQueue(fairQueue: BatchScheduler<QueuedRequest>, transport: Transport): Transport {
  return {
    async request(request) {
      const turn = fairQueue.acquire(request);
      if (turn) await turn;
      return transport.request(request);
    },
    watch: (request) => transport.watch(request),
  };
}
