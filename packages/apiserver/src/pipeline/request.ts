import type { AuditLog, AuditOrigin, AuditRecord } from '../audit/audit.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { BackgroundScheduler } from '../flow-control/background.ts';
import type { Admitted, FlowControl } from '../flow-control/flow-control.ts';
import type { Body } from '../handlers/body.ts';
import type { RequestResult } from '../handlers/result.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { Resource } from '../resource.ts';

/** Components that count, audit and queue the requests of a server. */
export type RequestControls = {
  readonly flow: FlowControl;
  readonly background: BackgroundScheduler;
  readonly metrics: ServerMetrics;
  /** Audit log; absent if auditing is disabled. */
  readonly audit?: AuditLog | undefined;
};

/**
 * Backend of a request that no handler of a resource serves: a non-resource endpoint, an aggregated server, or a connect
 * subresource. Resolves to undefined if the backend has sent the response itself.
 */
export type Backend = () => Promise<RequestResult | undefined>;

/**
 * Request on its way through the pipeline: each stage reads the fields that earlier stages have set, and sets its own.
 * One mutable object per request, because every request passes ten stages.
 */
export abstract class PipelineRequest {
  readonly core: Core;
  /** Attributes and user of the request. Set by Authenticate over HTTP, and by the transport in process. */
  context!: RequestContext;
  /** Records the end of the request in the metrics. Set by Audit. */
  countEnd: ((code: number) => void) | undefined;
  /** Audit event, if the request is audited. Set by Audit. */
  record: AuditRecord | undefined;
  /** Seats. Set by Priority and fairness. */
  admitted: Admitted | undefined;
  /** Ends the registration with the scheduler of background requests. Set by Priority and fairness. */
  unregister: (() => void) | undefined;
  /** Resource with stored objects. Set by Resolve; undefined for virtual resources and backends. */
  resource: Resource | undefined;
  /** Backend that serves the request instead of the handlers. Set by Resolve. */
  backend: Backend | undefined;
  /** Body. Set by Decode. */
  body: Body | undefined;
  /** Result. Set by Dispatch; undefined if a backend has sent the response. */
  result: RequestResult | undefined;

  constructor(core: Core) {
    this.core = core;
  }

  /** Reports whether no client waits for the result, so that other requests run first. */
  get isBackground(): boolean {
    return false;
  }

  /** Returns the origin for the audit log. */
  abstract origin(): AuditOrigin;

  /** Reads the requested timeout; requests in the same process have none. */
  readTimeout(): void {}

  /** Returns the backend of a request, if no resource serves the request. */
  abstract findBackend(resource: Resource | undefined): Backend | undefined;

  abstract readBody(): Body | undefined | Promise<Body | undefined>;

  /** Waits until concurrent writes let this request run; undefined if the request runs at once. */
  waitForTurn(): Promise<void> | undefined {
    return undefined;
  }

  /** Releases the seats: when the request ends, or earlier when a watch only waits for changes. */
  release(): void {
    this.admitted?.leave();
    this.unregister?.();
    this.unregister = undefined;
  }
}

/** Stage of the pipeline. */
export type Stage<Request extends PipelineRequest = PipelineRequest, Outcome = unknown> = {
  readonly name: string;
  /** Transports whose requests pass the stage. A stage of HTTP alone concerns the wire: credentials and encodings. */
  readonly transports: 'all' | 'HTTP';
  /** Status codes of the errors of this stage; handlers, webhooks and aggregated servers may return any code. */
  readonly failsWith: readonly number[] | 'any';
  /** Runs the stage; returns a promise only if the request has to wait. */
  run(request: Request): Promise<Outcome> | undefined;
  /** Keeps what the promise of the stage resolves to. */
  keep?(request: Request, outcome: Outcome): void;
};
