/**
 * Network between a process and the API server, with injected faults. Requests and responses have latency. Either may
 * be lost, which the process notices only by a timeout. A server that ends resets its connections. A process that has
 * ended receives nothing.
 */
import { TransportError } from '@kruise/client/http-transport';
import type { ApiRequest, ApiResponse, Transport, WatchEvent } from '@kruise/client/transport';
import { internalError, StatusError, tooManyRequests } from '@kruise/machinery/status';
import { linkedController } from '@kruise/values/linked-controller';
import { type Random, randomInteger } from '@kruise/values/random';
import type { Lifetime } from './process-lifetime.ts';

/** Network conditions between a process and the API server. Faults change them for a while. */
export type NetworkConditions = {
  /** Range of the one-way latency. */
  readonly latencyMs: readonly [number, number];
  /** Additional latency of watch events. */
  readonly watchLagMs: number;
  /** Partition: no message passes. */
  readonly isPartitioned: boolean;
  /** Requests per thousand that are lost on the way to the server. */
  readonly lostRequests: number;
  /** Responses per thousand that are lost although the request was executed. */
  readonly lostAnswers: number;
  /** Requests per thousand that are rejected with 429. */
  readonly refused: number;
  /** Requests per thousand that fail with 500. */
  readonly failed: number;
  /** Watch events per thousand after which the connection breaks. */
  readonly brokenWatches: number;
};

export const noFaults: NetworkConditions = {
  latencyMs: [0, 0],
  watchLagMs: 0,
  isPartitioned: false,
  lostRequests: 0,
  lostAnswers: 0,
  refused: 0,
  failed: 0,
  brokenWatches: 0,
};

/** A running API server and its transport. */
export type Server = { readonly life: Lifetime; readonly transport: Transport };

/** Timeout of a request. */
const patienceMs = 10_000;

export type LinkOptions = {
  readonly life: Lifetime;
  readonly random: Random;
  readonly conditions: () => NetworkConditions;
  /** The current API server; undefined while it is down. */
  readonly server: () => Server | undefined;
};

/** Creates the transport of a process to the API server. */
export function link({ life, random, conditions, server }: LinkOptions): Transport {
  const { clock } = life;
  const happens = (perThousand: number) => perThousand > 0 && randomInteger(random, 1000) < perThousand;
  const latency = () => {
    const [least, most] = conditions().latencyMs;
    return least + randomInteger(random, most - least + 1);
  };

  const waiting = new Set<(reason: unknown) => void>();
  life.stopping.addEventListener('abort', () => {
    for (const reject of waiting) reject(connectionReset());
  });
  /** Waits, and never resolves for a process that has ended. */
  const delay = (delayMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      if (life.stopping.aborted) return reject(connectionReset());
      waiting.add(reject);
      clock.setTimer(delayMs, () => {
        waiting.delete(reject);
        resolve();
      });
    });

  async function reach(): Promise<Server> {
    const { isPartitioned, lostRequests } = conditions();
    if (isPartitioned || happens(lostRequests)) {
      await delay(patienceMs);
      throw new TransportError('no answer', { wasSent: true });
    }
    await delay(latency());
    const found = server();
    if (!found) throw new TransportError('connection refused', { wasSent: false });
    const { refused, failed } = conditions();
    if (happens(refused)) throw tooManyRequests('too many requests, please try again later', 1);
    if (happens(failed)) throw internalError('injected server error');
    return found;
  }

  async function request(asked: ApiRequest): Promise<ApiResponse> {
    asked.signal?.throwIfAborted();
    const { life: serverLife, transport } = await reach();
    const answer = await whileAlive(serverLife, settled(transport.request(asked)));
    const { isPartitioned, lostAnswers } = conditions();
    if (isPartitioned || happens(lostAnswers)) {
      await delay(patienceMs);
      throw new TransportError('no answer', { wasSent: true });
    }
    await delay(latency());
    asked.signal?.throwIfAborted();
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  async function* watch(asked: ApiRequest): AsyncGenerator<WatchEvent> {
    const { life: serverLife, transport } = await reach();
    const stop = linkedController(...(asked.signal ? [asked.signal] : []));
    let wake = () => {};
    const queue: { readonly event: WatchEvent; readonly due: number }[] = [];
    let end: { readonly error?: unknown } | undefined;
    const notify = () => {
      if (!life.isOver()) wake();
    };
    const finish = (how: { readonly error?: unknown }) => {
      end ??= how;
      notify();
    };
    const unsubscribe = serverLife.onEnd(() => finish({ error: connectionReset() }));
    stop.signal.addEventListener('abort', () => finish({}));
    let due = 0;
    void (async () => {
      try {
        for await (const event of transport.watch({ ...asked, signal: stop.signal })) {
          if (happens(conditions().brokenWatches)) throw connectionReset();
          // A late event delays the events after it, because a connection keeps their order. The delay does not depend
          // on the clock of the receiver: a clock that is set back would hold all events until it has caught up.
          due = Math.max(due, life.trueTime() + latency() + conditions().watchLagMs);
          queue.push({ event, due });
          notify();
        }
        finish({});
      } catch (error) {
        finish({ error });
      }
    })();
    try {
      for (;;) {
        const next = queue.shift();
        if (next) {
          if (next.due > life.trueTime()) await delay(next.due - life.trueTime());
          while (conditions().isPartitioned) await delay(100);
          if (asked.signal?.aborted) return;
          yield next.event;
        } else if (end) {
          if (asked.signal?.aborted || end.error === undefined) return;
          throw end.error;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      unsubscribe();
      if (!stop.signal.aborted) stop.abort();
    }
  }

  return { request, watch };
}

/** Returns a transport that drops Events and reports success to their senders. */
export function withoutEvents(transport: Transport): Transport {
  return {
    watch: (asked) => transport.watch(asked),
    async request(asked) {
      const [, namespace, name] = /\/namespaces\/([^/]+)\/events(?:\/([^/]+))?$/.exec(asked.path) ?? [];
      if (asked.method === 'GET' || namespace === undefined) return transport.request(asked);
      if (name !== undefined) return { code: 200, object: { metadata: { namespace, name } }, warnings: [] };
      return { code: 201, object: asked.body, warnings: [] };
    },
  };
}

function connectionReset(): TransportError {
  return new TransportError('connection reset', { wasSent: true });
}

/** Returns the response of a server, or rejects if the server ends before it responds. */
export function whileAlive<T>(server: Lifetime, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const unsubscribe = server.onEnd(() => reject(connectionReset()));
    answer.then(resolve, reject).finally(unsubscribe);
  });
}

/** Returns the outcome, so that an error has latency on the way back, too. */
async function settled<T>(promise: Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await promise };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { error };
  }
}
