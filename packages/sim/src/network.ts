/**
 * The way from a process to the API server, and what can go wrong on it. Requests and answers take time; either may be
 * lost, which the process notices only when it has waited too long; a server that ends breaks its connections; a
 * process that ends hears nothing any more.
 */
import { TransportError } from '@kruise/client/http-transport';
import type { ApiAnswer, ApiRequest, Transport, WatchEvent } from '@kruise/client/transport';
import { internalError, StatusError, tooManyRequests } from '@kruise/machinery/status';
import { linkedController } from '@kruise/values/linked-controller';
import { type Random, randomInteger } from '@kruise/values/random';
import type { Life } from './life.ts';

/** How things stand between a process and the server; faults change it for a while. */
export type Weather = {
  /** How long one way takes: between these. */
  readonly latencyMs: readonly [number, number];
  /** How much longer what a watch tells takes. */
  readonly watchLagMs: number;
  /** Nothing gets through. */
  readonly isCut: boolean;
  /** Of a thousand requests, so many are lost on the way there. */
  readonly lostRequests: number;
  /** Of a thousand answers, so many are lost: what was asked has been done. */
  readonly lostAnswers: number;
  /** Of a thousand requests, so many are refused because there are too many. */
  readonly refused: number;
  /** Of a thousand requests, so many end in an error of the server. */
  readonly failed: number;
  /** Of a thousand events of a watch, after so many the connection breaks. */
  readonly brokenWatches: number;
};

export const fairWeather: Weather = {
  latencyMs: [0, 0],
  watchLagMs: 0,
  isCut: false,
  lostRequests: 0,
  lostAnswers: 0,
  refused: 0,
  failed: 0,
  brokenWatches: 0,
};

/** A server, and the way to it. */
export type Server = { readonly life: Life; readonly transport: Transport };

/** How long a process waits for an answer. */
const patienceMs = 10_000;

export type LinkOptions = {
  readonly life: Life;
  readonly random: Random;
  readonly weather: () => Weather;
  /** The server as it is now; nobody, while it is down. */
  readonly server: () => Server | undefined;
};

/** A process's way to the server. */
export function link({ life, random, weather, server }: LinkOptions): Transport {
  const { clock } = life;
  const happens = (perThousand: number) => perThousand > 0 && randomInteger(random, 1000) < perThousand;
  const latency = () => {
    const [least, most] = weather().latencyMs;
    return least + randomInteger(random, most - least + 1);
  };

  const waiting = new Set<(reason: unknown) => void>();
  life.stopping.addEventListener('abort', () => {
    for (const reject of waiting) reject(connectionReset());
  });
  /** Waits, and never comes back to a process that has ended. */
  const pass = (delayMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      if (life.stopping.aborted) return reject(connectionReset());
      waiting.add(reject);
      clock.setTimer(delayMs, () => {
        waiting.delete(reject);
        resolve();
      });
    });

  async function reach(): Promise<Server> {
    const { isCut, lostRequests } = weather();
    if (isCut || happens(lostRequests)) {
      await pass(patienceMs);
      throw new TransportError('no answer', { wasSent: true });
    }
    await pass(latency());
    const found = server();
    if (!found) throw new TransportError('connection refused', { wasSent: false });
    const { refused, failed } = weather();
    if (happens(refused)) throw tooManyRequests('too many requests, please try again later', 1);
    if (happens(failed)) throw internalError('the server is not well');
    return found;
  }

  async function request(asked: ApiRequest): Promise<ApiAnswer> {
    asked.signal?.throwIfAborted();
    const { life: serverLife, transport } = await reach();
    const answer = await whileAlive(serverLife, settled(transport.request(asked)));
    const { isCut, lostAnswers } = weather();
    if (isCut || happens(lostAnswers)) {
      await pass(patienceMs);
      throw new TransportError('no answer', { wasSent: true });
    }
    await pass(latency());
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
    const tell = () => {
      if (!life.isOver()) wake();
    };
    const finish = (how: { readonly error?: unknown }) => {
      end ??= how;
      tell();
    };
    const forget = serverLife.onEnd(() => finish({ error: connectionReset() }));
    stop.signal.addEventListener('abort', () => finish({}));
    let due = 0;
    void (async () => {
      try {
        for await (const event of transport.watch({ ...asked, signal: stop.signal })) {
          if (happens(weather().brokenWatches)) throw connectionReset();
          // What is late makes what comes after it late, too: a connection keeps the order. It does not go by the clock of
          // who listens: one that is put back would keep everything from it until it has caught up.
          due = Math.max(due, life.trueTime() + latency() + weather().watchLagMs);
          queue.push({ event, due });
          tell();
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
          if (next.due > life.trueTime()) await pass(next.due - life.trueTime());
          while (weather().isCut) await pass(100);
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
      forget();
      if (!stop.signal.aborted) stop.abort();
    }
  }

  return { request, watch };
}

/** A way on which Events are lost, and their senders told that all is well. */
export function withoutEvents(way: Transport): Transport {
  return {
    watch: (asked) => way.watch(asked),
    async request(asked) {
      const [, namespace, name] = /\/namespaces\/([^/]+)\/events(?:\/([^/]+))?$/.exec(asked.path) ?? [];
      if (asked.method === 'GET' || namespace === undefined) return way.request(asked);
      if (name !== undefined) return { code: 200, object: { metadata: { namespace, name } }, warnings: [] };
      return { code: 201, object: asked.body, warnings: [] };
    },
  };
}

function connectionReset(): TransportError {
  return new TransportError('connection reset', { wasSent: true });
}

/** What a server answers, or that its connections broke when it ended. */
export function whileAlive<T>(server: Life, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = server.onEnd(() => reject(connectionReset()));
    answer.then(resolve, reject).finally(forget);
  });
}

/** What came of it, so that an error, too, takes its time on the way back. */
async function settled<T>(promise: Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await promise };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { error };
  }
}
