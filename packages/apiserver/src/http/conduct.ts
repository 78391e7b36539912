import type { AuditRecord } from '../audit/audit.ts';
import type { RequestContext } from '../context.ts';
import { TooManyRequestsError } from '../flow-control/flow-control.ts';
import { isLongRunning } from '../metrics/server-metrics.ts';
import type { Passages } from '../passage.ts';
import type { User } from '../user.ts';
import { beforeDeadline, timeoutOf } from './deadline.ts';
import type { Exchange, Headers } from './exchange.ts';
import type { InFlight } from './in-flight.ts';
import { originOf } from './origin.ts';

/** Request with its context. */
export type Conducted = {
  readonly exchange: Exchange;
  readonly context: RequestContext;
  /** Authenticated user, if the request impersonates another user. */
  readonly sender: User;
  readonly headers: Headers;
  /** Error if the user may not impersonate the requested user. */
  readonly refusal?: unknown;
};

/** Tools of a request handler. */
export type Work = {
  /** Response headers, including the priority and fairness headers. */
  readonly headers: Headers;
  readonly record: AuditRecord | undefined;
  /** Releases the seats early, when the request only waits from now on. */
  leave(): void;
};

export type Conduct = (
  request: Conducted,
  work: (given: Work) => Promise<void>,
  refuse: (given: Omit<Work, 'leave'>, error: unknown) => Promise<void>,
) => Promise<void>;

/** Creates the filter chain of network requests: the common filters, plus a timeout. */
export function createConduct(passages: Passages, inFlight: InFlight): Conduct {
  return async ({ exchange, context, sender, headers, refusal }, work, refuse) => {
    const { info, query, clock } = context;
    const lasts = isLongRunning(info);
    const origin = () => originOf(exchange, headers);
    const { record, enter, leave, end } = passages.begin({ context, sender, origin });
    if (!lasts) inFlight.begin();
    let described = headers;
    try {
      if (refusal !== undefined) throw refusal;
      const timeoutMs = lasts ? 0 : timeoutOf(query);
      const entering = enter();
      const admitted = entering instanceof Promise ? await entering : entering;
      described = { ...headers, ...flowHeaders(admitted) };
      const run = () => work({ headers: described, record, leave });
      if (lasts) await run();
      else await beforeDeadline(clock, timeoutMs, exchange, run);
    } catch (error) {
      if (error instanceof TooManyRequestsError) await sendTooMany(exchange, headers, error);
      else await refuse({ headers: described, record }, error);
    }
    if (lasts) {
      record?.started(exchange.answered());
      exchange.whenClosed(() => end(exchange.answered()));
    } else {
      inFlight.end();
      end(exchange.answered());
    }
  };
}

type Let = { readonly schemaUid: string; readonly levelUid: string };

function flowHeaders({ schemaUid, levelUid }: Let): Headers {
  if (schemaUid === '') return {};
  return { 'x-kubernetes-pf-flowschema-uid': schemaUid, 'x-kubernetes-pf-prioritylevel-uid': levelUid };
}

async function sendTooMany(exchange: Exchange, headers: Headers, error: TooManyRequestsError): Promise<void> {
  const plain = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'retry-after': String(error.retryAfterSeconds),
  };
  await exchange.send(429, { ...headers, ...flowHeaders(error), ...plain }, `${error.message}\n`);
}
