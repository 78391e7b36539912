import type { AuditLog, AuditRecord } from '../audit/audit.ts';
import type { RequestContext } from '../context.ts';
import { type FlowControl, TooManyRequestsError } from '../flow-control/flow-control.ts';
import { isLongRunning, type ServerMetrics } from '../metrics/server-metrics.ts';
import type { User } from '../user.ts';
import { beforeDeadline, timeoutOf } from './deadline.ts';
import type { Exchange, Headers } from './exchange.ts';
import type { InFlight } from './in-flight.ts';

export type ConductParts = {
  readonly flow: FlowControl;
  readonly metrics: ServerMetrics;
  readonly inFlight: InFlight;
  /** Absent if nothing is recorded. */
  readonly audit?: AuditLog;
};

/** A request and what is known of it. */
export type Conducted = {
  readonly exchange: Exchange;
  readonly context: RequestContext;
  /** Who sent it, where they stand for someone else. */
  readonly sender: User;
  readonly headers: Headers;
};

/** What a request is given to do its work with. */
export type Work = {
  /** With what let it in. */
  readonly headers: Headers;
  readonly record: AuditRecord | undefined;
  /** Gives its seat to the next, where what follows is only waiting. */
  leave(): void;
};

export type Conduct = (
  request: Conducted,
  work: (given: Work) => Promise<void>,
  refuse: (given: Omit<Work, 'leave'>, error: unknown) => Promise<void>,
) => Promise<void>;

/** What surrounds every request: it is counted, recorded, given a seat, and has to end in time. */
export function createConduct({ flow, metrics, inFlight, audit }: ConductParts): Conduct {
  return async ({ exchange, context, sender, headers }, work, refuse) => {
    const { info, query, clock } = context;
    const lasts = isLongRunning(info);
    const done = metrics.begin(info, query);
    if (!lasts) inFlight.begin();
    const record = audit?.begin({ exchange, context, sender, auditId: String(headers['audit-id']) });
    let described = headers;
    let leave = nothing;
    const finish = (): void => {
      leave();
      if (!lasts) inFlight.end();
      done(exchange.answered());
      record?.complete(exchange.answered());
    };
    try {
      const timeoutMs = lasts ? 0 : timeoutOf(query);
      const entering = flow.admit(context);
      const admitted = entering instanceof Promise ? await entering : entering;
      leave = admitted.leave;
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
      exchange.whenClosed(finish);
    } else finish();
  };
}

const nothing = (): void => {};

type Let = { readonly schemaUid: string; readonly levelUid: string };

function flowHeaders({ schemaUid, levelUid }: Let): Headers {
  if (schemaUid === '') return {};
  return { 'x-kubernetes-pf-flowschema-uid': schemaUid, 'x-kubernetes-pf-prioritylevel-uid': levelUid };
}

async function sendTooMany(exchange: Exchange, headers: Headers, error: TooManyRequestsError): Promise<void> {
  const plain = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'retry-after': '1',
  };
  await exchange.send(429, { ...headers, ...flowHeaders(error), ...plain }, `${error.message}\n`);
}
