import type { LevelSeats } from './seats.ts';

/** Queue configuration of a priority level. */
export type QueueShape = { readonly queues: number; readonly handSize: number; readonly lengthLimit: number };

/** Request with assigned seats. */
export type AssignedSeats = {
  /** Releases the seats. */
  leave(): void;
};

export type RejectReason = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** Seats and queues of one priority level. */
export type FairQueue = {
  /** Assigns seats, at once if possible. A queued request waits until the signal is aborted. */
  acquire(flow: string, width: number, waitSignal: () => AbortSignal): AssignedSeats | Promise<AssignedSeats>;
  /** Changes the queue configuration for new requests; queued requests stay where they are. */
  reshape(shape: QueueShape | undefined): void;
  readonly waiting: number;
};

/** Error: a request was rejected. */
export class RejectedError extends Error {
  override readonly name = 'RefusedError';
  readonly reason: RejectReason;

  constructor(reason: RejectReason) {
    super(reason);
    this.reason = reason;
  }
}

type Waiter = {
  readonly width: number;
  readonly start: number;
  readonly queue: Queue;
  readonly assign: () => void;
};

/**
 * Queue of a level. Its virtual start time advances by the seats that its requests use, so that queues with more usage
 * come later.
 */
type Queue = { readonly waiters: Waiter[]; nextStart: number };

/** Assumed duration of a request until it is known, in seconds. */
const estimatedSeconds = 0.003;

/**
 * Fair queuing with shuffle sharding: a hash assigns each flow a few queues, so that a flow that sends too much only
 * fills its own queues. The next seat goes to the queue with the least virtual start time.
 */
export function createFairQueue(seats: LevelSeats, nowMs: () => number, initial: QueueShape | undefined): FairQueue {
  let shape = initial;
  let queues: Queue[] = [];
  /** Queues with waiting requests. */
  const busy = new Set<Queue>();
  let waiting = 0;
  /** Virtual time: idle queues restart here, so they cannot accumulate credit. */
  let virtualTime = 0;

  function queueOf(flow: string): Queue {
    const { queues: count, handSize } = shape!;
    let best: Queue | undefined;
    for (const index of deal(hashOf(flow), count, handSize)) {
      const queue = (queues[index] ??= { waiters: [], nextStart: 0 });
      if (!best || queue.waiters.length < best.waiters.length) best = queue;
    }
    return best!;
  }

  function assignSeats(width: number, queue: Queue | undefined): AssignedSeats {
    const startedAt = nowMs();
    let isReleased = false;
    if (queue) queue.nextStart = Math.max(queue.nextStart, virtualTime) + width * estimatedSeconds;
    return {
      leave() {
        if (isReleased) return;
        isReleased = true;
        if (queue) queue.nextStart += width * ((nowMs() - startedAt) / 1000 - estimatedSeconds);
        seats.release(width);
      },
    };
  }

  function serveNext(): void {
    while (waiting > 0) {
      let next: Waiter | undefined;
      for (const { waiters } of busy) if (!next || waiters[0]!.start < next.start) next = waiters[0];
      if (!next || !seats.acquire(next.width)) return;
      virtualTime = Math.max(virtualTime, next.start);
      remove(next);
      next.assign();
    }
  }

  function remove(waiter: Waiter): void {
    const { waiters } = waiter.queue;
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) busy.delete(waiter.queue);
    waiting--;
    if (waiting === 0) seats.whenFree(undefined);
  }

  function wait(queue: Queue, width: number, signal: AbortSignal): Promise<AssignedSeats> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        remove(waiter);
        reject(new RejectedError(signal.reason === waitTimeout ? 'time-out' : 'cancelled'));
      };
      const waiter: Waiter = {
        width,
        queue,
        start: Math.max(queue.nextStart, virtualTime) + queue.waiters.length * width * estimatedSeconds,
        assign() {
          signal.removeEventListener('abort', abort);
          resolve(assignSeats(width, queue));
        },
      };
      queue.waiters.push(waiter);
      busy.add(queue);
      if (waiting++ === 0) seats.whenFree(serveNext);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  return {
    get waiting() {
      return waiting;
    },
    reshape(next) {
      if (next?.queues !== shape?.queues) queues = [];
      shape = next;
    },
    acquire(flow, width, waitSignal) {
      if (!shape) {
        if (!seats.acquire(width)) throw new RejectedError('concurrency-limit');
        return assignSeats(width, undefined);
      }
      const queue = queueOf(flow);
      if (waiting === 0 && seats.acquire(width)) return assignSeats(width, queue);
      if (queue.waiters.length >= shape.lengthLimit) throw new RejectedError('queue-full');
      const promise = wait(queue, width, waitSignal());
      serveNext();
      return promise;
    },
  };
}

/** Abort reason of a request that waited for the maximum time. */
export const waitTimeout: unique symbol = Symbol('queue wait timeout');

/** Hashes a text (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Deals a hand of distinct cards from a deck, deterministic by hash, in ascending order (shuffle sharding). */
export function deal(hash: number, deckSize: number, handSize: number): readonly number[] {
  const hand: number[] = [];
  let state = hash;
  for (let count = 0; count < handSize && count < deckSize; count++) {
    // Step of a mixing generator: the bits of one hash do not suffice for a whole hand.
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    state ^= state >>> 13;
    // The card is an index among the cards not dealt yet.
    let card = (state >>> 0) % (deckSize - count);
    let position = 0;
    while (position < count && card >= hand[position]!) {
      card++;
      position++;
    }
    hand.splice(position, 0, card);
  }
  return hand;
}
