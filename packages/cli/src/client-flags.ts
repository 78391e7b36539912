/** `--v`, `--rest-config-qps` and `--rest-config-burst`: logging and rate limit of a component's API client. */
import { type Client, createClient } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import { tokenBucket } from '@kruise/client/rate-limiter';
import type { ApiRequest, Transport } from '@kruise/client/transport';
import { StatusError } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
import { integerOf } from './component.ts';

export type ClientFlags = {
  readonly v: string;
  readonly restConfigQps: string;
  readonly restConfigBurst: string;
};

/** Verbosity from which on every request is logged, as in client-go. */
const requestVerbosity = 6;

/** Burst of a client with a rate limit and no explicit burst. */
const defaultBurst = 30;

/** Returns a client with the rate limit and verbosity of the flags; the same client if neither is set. */
export function tunedClient(client: Client, flags: ClientFlags, { clock, log }: { clock: Clock; log: Log }): Client {
  const verbosity = integerOf('--v', flags.v);
  const perSecond = integerOf('--rest-config-qps', flags.restConfigQps);
  const burst = integerOf('--rest-config-burst', flags.restConfigBurst);
  let { transport } = client;
  if (perSecond > 0)
    transport = withRateLimit(transport, clock, { perSecond, burst: burst > 0 ? burst : defaultBurst });
  if (verbosity >= requestVerbosity) transport = withLogging(transport, clock, log);
  return transport === client.transport ? client : createClient(transport);
}

/** Limits the rate of requests. Requests beyond the limit wait. */
function withRateLimit(
  transport: Transport,
  clock: Clock,
  options: { readonly perSecond: number; readonly burst: number },
): Transport {
  const bucket = tokenBucket(clock, options);
  const waitForToken = async ({ signal }: ApiRequest) => {
    const waitMs = bucket.reserveMs();
    if (waitMs > 0) await after(clock, waitMs, signal);
  };
  return {
    async request(request) {
      await waitForToken(request);
      return transport.request(request);
    },
    async *watch(request) {
      await waitForToken(request);
      yield* transport.watch(request);
    },
  };
}

/** Logs each request with its response code and duration, and each watch when it starts. */
function withLogging(transport: Transport, clock: Clock, log: Log): Transport {
  return {
    async request(request) {
      const { method, path } = request;
      const startedAt = clock.elapsedMs();
      let code = 0;
      try {
        const answer = await transport.request(request);
        code = answer.code;
        return answer;
      } catch (error) {
        if (error instanceof StatusError) code = error.code;
        throw error;
      } finally {
        log.info({ method, path, code, milliseconds: Math.round(clock.elapsedMs() - startedAt) }, 'Response');
      }
    },
    watch(request) {
      log.info({ method: 'GET', path: request.path }, 'Watch');
      return transport.watch(request);
    },
  };
}
