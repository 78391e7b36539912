import type { AuditRecord } from '../audit/audit.ts';
import type { RequestContext } from '../context.ts';
import type { FilterChain } from '../filter-chain.ts';
import { TooManyRequestsError } from '../flow-control/flow-control.ts';
import { isLongRunning } from '../metrics/server-metrics.ts';
import type { User } from '../user.ts';
import { beforeDeadline, timeoutOf } from './deadline.ts';
import type { Headers, HttpRequest } from './http-request.ts';
import type { InFlight } from './in-flight.ts';
import { originOf } from './origin.ts';

/** Request with its context. */
export type ChainedRequest = {
  readonly httpRequest: HttpRequest;
  readonly context: RequestContext;
  /** Authenticated user, if the request impersonates another user. */
  readonly sender: User;
  readonly headers: Headers;
  /** Error if the user may not impersonate the requested user. */
  readonly rejection?: unknown;
};

/** Tools of a request handler. */
export type HandlerContext = {
  /** Response headers, including the priority and fairness headers. */
  readonly headers: Headers;
  readonly record: AuditRecord | undefined;
  /** Releases the seats early, when the request only waits from now on. */
  leave(): void;
};

export type HttpFilterChain = (
  request: ChainedRequest,
  handle: (handlerContext: HandlerContext) => Promise<void>,
  reject: (handlerContext: Omit<HandlerContext, 'leave'>, error: unknown) => Promise<void>,
) => Promise<void>;

/** Creates the filter chain of network requests: the common filters, plus a timeout. */
export function createHttpFilterChain(filterChain: FilterChain, inFlight: InFlight): HttpFilterChain {
  return async ({ httpRequest, context, sender, headers, rejection }, handle, reject) => {
    const { info, query, clock } = context;
    const longRunning = isLongRunning(info);
    const origin = () => originOf(httpRequest, headers);
    const { record, admit, release, end } = filterChain.begin({ context, sender, origin });
    if (!longRunning) inFlight.begin();
    let responseHeaders = headers;
    try {
      if (rejection !== undefined) throw rejection;
      const timeoutMs = longRunning ? 0 : timeoutOf(query);
      const pending = admit();
      const admitted = pending instanceof Promise ? await pending : pending;
      responseHeaders = { ...headers, ...flowHeaders(admitted) };
      const run = () => handle({ headers: responseHeaders, record, leave: release });
      if (longRunning) await run();
      else await beforeDeadline(clock, timeoutMs, httpRequest, run);
    } catch (error) {
      if (error instanceof TooManyRequestsError) await sendTooMany(httpRequest, headers, error);
      else await reject({ headers: responseHeaders, record }, error);
    }
    if (longRunning) {
      record?.started(httpRequest.statusCode());
      httpRequest.whenClosed(() => end(httpRequest.statusCode()));
    } else {
      inFlight.end();
      end(httpRequest.statusCode());
    }
  };
}

type FlowIds = { readonly schemaUid: string; readonly levelUid: string };

function flowHeaders({ schemaUid, levelUid }: FlowIds): Headers {
  if (schemaUid === '') return {};
  return { 'x-kubernetes-pf-flowschema-uid': schemaUid, 'x-kubernetes-pf-prioritylevel-uid': levelUid };
}

async function sendTooMany(httpRequest: HttpRequest, headers: Headers, error: TooManyRequestsError): Promise<void> {
  const plainHeaders = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'retry-after': String(error.retryAfterSeconds),
  };
  await httpRequest.send(429, { ...headers, ...flowHeaders(error), ...plainHeaders }, `${error.message}\n`);
}
