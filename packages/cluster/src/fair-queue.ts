import { type BatchQueue, type BatchScheduler, createBatchScheduler } from '@kruise/apiserver/batch-scheduler';
import type { ApiRequest, Transport } from '@kruise/client/transport';

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
  return createBatchScheduler(requestsPerTurn, queueByWriter());
}

/** Round-robin between writers: a writer with few requests does not wait behind one with many. */
function queueByWriter(): BatchQueue<QueuedRequest> {
  const waiting = new Map<string, (() => void)[]>();
  let background: (() => void)[] = [];
  return {
    add({ query, isBackground }, go) {
      if (isBackground) {
        background.push(go);
        return;
      }
      const writer = String(query?.['fieldManager'] ?? '');
      const requests = waiting.get(writer);
      if (requests) requests.push(go);
      else waiting.set(writer, [go]);
    },
    next(most) {
      const due: (() => void)[] = [];
      const room = most - Math.min(backgroundShare, background.length);
      // A writer with more requests moves to the end.
      for (const [writer, requests] of waiting) {
        waiting.delete(writer);
        due.push(requests.shift()!);
        if (requests.length > 0) waiting.set(writer, requests);
        if (due.length === room) break;
      }
      const others = most - due.length;
      due.push(...background.slice(0, others));
      background = background.slice(others);
      return due;
    },
  };
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
