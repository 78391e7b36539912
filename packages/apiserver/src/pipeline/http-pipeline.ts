import { randomUUID } from 'node:crypto';
import { badRequest, internalError, StatusError } from '@kruise/machinery/status';
import type { BatchScheduler } from '@kruise/values/scheduling/batch-scheduler';
import type { Aggregation } from '../aggregation/aggregation.ts';
import type { AuditOrigin } from '../audit/audit.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { Core } from '../core.ts';
import { TooManyRequestsError } from '../flow-control/flow-control.ts';
import type { Body } from '../handlers/body.ts';
import { PlainTextError, StatusErrorWithHeaders, unsupportedMethod } from '../handlers/http-errors.ts';
import { beforeDeadline, timeoutOf } from '../http/deadline.ts';
import { encodeObject } from '../http/encoding.ts';
import { createFanOut, type FanOut } from '../http/fan-out.ts';
import type { FrameCache } from '../http/frame-cache.ts';
import type { Headers, HttpRequest } from '../http/http-request.ts';
import type { InFlight } from '../http/in-flight.ts';
import { errorMedia, type Media, mediaTypes, wantsPretty } from '../http/negotiation.ts';
import type { EndpointHandler, NonResourceEndpoints } from '../http/non-resource-endpoints.ts';
import { originOf } from '../http/origin.ts';
import { send } from '../http/send.ts';
import { warningHeaders } from '../http/warnings.ts';
import { createWriteScheduler } from '../http/write-scheduler.ts';
import type { RequestInfo } from '../request-info.ts';
import type { Resource } from '../resource.ts';
import { endRequest } from './audit.ts';
import { runStages, stagesBeforeDeadline, stagesUntilSeated } from './pipeline.ts';
import { type Backend, PipelineRequest } from './request.ts';

export type HttpPipelineOptions = {
  readonly core: Core;
  readonly authenticator: Authenticator;
  /** Non-resource endpoints: discovery, OpenAPI, health, version, metrics. */
  readonly endpoints: NonResourceEndpoints;
  readonly frames: FrameCache;
  /** Aggregated API servers. */
  readonly aggregation: Pick<Aggregation, 'find'>;
  /** Requests that a server waits for when it shuts down. */
  readonly inFlight: InFlight;
  /** Called with unexpected errors. */
  readonly onError: (error: unknown) => void;
};

type Parts = HttpPipelineOptions & { readonly fanOut: FanOut; readonly writeScheduler: BatchScheduler<void> };

/** Request over HTTP in the pipeline. */
export class HttpPipelineRequest extends PipelineRequest {
  readonly parts: Parts;
  readonly httpRequest: HttpRequest;
  /** Common headers of all responses to this request. */
  headers: Headers = { 'audit-id': randomUUID(), 'cache-control': 'no-cache, private' };
  /** Media type and view of the response. Set by Negotiate; undefined for backends, which negotiate themselves. */
  media: Media | undefined;
  isLongRunning = false;
  timeoutMs = 0;
  #isInFlight = false;

  constructor(parts: Parts, httpRequest: HttpRequest) {
    super(parts.core);
    this.parts = parts;
    this.httpRequest = httpRequest;
  }

  /** Begins an authenticated request. A server that shuts down waits for all but the long-running ones. */
  begin(isLongRunning: boolean): void {
    this.isLongRunning = isLongRunning;
    if (isLongRunning) return;
    this.parts.inFlight.begin();
    this.#isInFlight = true;
  }

  override origin(): AuditOrigin {
    return originOf(this.httpRequest, this.headers);
  }

  override readTimeout(): void {
    if (!this.isLongRunning) this.timeoutMs = timeoutOf(this.context.query);
  }

  override findBackend(resource: Resource | undefined): Backend | undefined {
    const { httpRequest, context, headers, parts } = this;
    const { info, query } = context;
    const remote = parts.aggregation.find(info.path);
    if (remote) return this.#backend(remote);
    if (!info.isResource) return this.#backend(parts.endpoints.serve);
    const subresource = findConnectSubresource(resource, info);
    if (!subresource) return undefined;
    if (!subresource.methods.includes(httpRequest.method)) throw unsupportedMethod(subresource.methods);
    if (query.has('dryRun')) throw badRequest('dryRun is not supported');
    return () => subresource.connect(context, httpRequest, headers).then(nothing);
  }

  #backend(serve: EndpointHandler): Backend {
    return () => serve(this.httpRequest, this.context, this.headers).then(nothing);
  }

  override readBody(): Promise<Body | undefined> | undefined {
    const { method, headers } = this.httpRequest;
    if (method === 'GET' || method === 'HEAD') return undefined;
    return this.httpRequest.body().then((bytes) => {
      if (bytes.length === 0 && method === 'DELETE') return undefined;
      return { type: 'bytes', contentType: headers['content-type'] ?? '', bytes };
    });
  }

  override waitForTurn(): Promise<void> | undefined {
    return this.body && this.parts.writeScheduler.acquire();
  }

  /** Ends the request, a long-running one when its connection is closed. */
  end(): void {
    const { httpRequest, record } = this;
    if (this.#isInFlight) this.parts.inFlight.end();
    // A request that fails before Audit is not counted.
    if (!this.countEnd) return;
    if (this.isLongRunning) {
      record?.started(httpRequest.statusCode());
      httpRequest.whenClosed(() => endRequest(this, httpRequest.statusCode()));
      return;
    }
    endRequest(this, httpRequest.statusCode());
  }
}

/** Creates the handler of requests over HTTP: runs the stages, and responds to errors. */
export function createHttpPipeline(options: HttpPipelineOptions): (httpRequest: HttpRequest) => Promise<void> {
  const parts: Parts = { ...options, fanOut: createFanOut(), writeScheduler: createWriteScheduler() };
  return async (httpRequest) => {
    const request = new HttpPipelineRequest(parts, httpRequest);
    const { headers } = request;
    try {
      await runStages(stagesUntilSeated, request);
      request.headers = { ...headers, ...flowHeaders(request.admitted!) };
      const run = () => runStages(stagesBeforeDeadline, request);
      if (request.isLongRunning) await run();
      else await beforeDeadline(parts.core.clock, request.timeoutMs, httpRequest, run);
    } catch (error) {
      await respondWithError(request, error).catch(parts.onError);
    }
    request.end();
  };
}

function nothing(): undefined {
  return undefined;
}

/** Returns the connect subresource of a path, if any. */
function findConnectSubresource(resource: Resource | undefined, { name, subresource, rest }: RequestInfo) {
  if (subresource === '' || name === '') return undefined;
  const found = resource?.subresources.get(subresource);
  if (found?.type !== 'connect' || (rest.length > 0 && subresource !== 'proxy')) return undefined;
  return found;
}

type FlowIds = { readonly schemaUid: string; readonly levelUid: string };

function flowHeaders({ schemaUid, levelUid }: FlowIds): Headers {
  if (schemaUid === '') return {};
  return { 'x-kubernetes-pf-flowschema-uid': schemaUid, 'x-kubernetes-pf-prioritylevel-uid': levelUid };
}

async function respondWithError(request: HttpPipelineRequest, error: unknown): Promise<void> {
  const { httpRequest, headers } = request;
  if (error instanceof TooManyRequestsError) {
    const retry = { ...flowHeaders(error), 'retry-after': String(error.retryAfterSeconds) };
    return sendText(httpRequest, 429, { ...headers, ...retry }, error.message);
  }
  // A request that fails before it is authenticated has no context.
  const all = request.countEnd ? { ...headers, ...warningHeaders(request.context) } : headers;
  if (error instanceof PlainTextError) return sendText(httpRequest, error.code, all, error.message);
  return sendStatus(request, all, error);
}

function sendText(httpRequest: HttpRequest, code: number, headers: Headers, text: string): Promise<void> {
  const plain = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return httpRequest.send(code, { ...headers, ...plain }, `${text}\n`);
}

async function sendStatus(request: HttpPipelineRequest, headers: Headers, error: unknown): Promise<void> {
  const { httpRequest, parts } = request;
  const known = error instanceof StatusError;
  if (!known && !httpRequest.signal.aborted) parts.onError(error);
  const { status, code } = known ? error : internalError(error instanceof Error ? error.message : String(error));
  request.record?.response(() => status);
  const retry = status.details?.retryAfterSeconds;
  const { accept, 'user-agent': userAgent = '' } = httpRequest.headers;
  const media = errorMedia(accept, wantsPretty(httpRequest.query, userAgent));
  await send(
    httpRequest,
    code,
    {
      ...headers,
      ...(error instanceof StatusErrorWithHeaders ? error.headers : {}),
      'content-type': mediaTypes[media.format],
      ...(retry ? { 'retry-after': String(retry) } : {}),
      ...(code === 403 ? { 'x-content-type-options': 'nosniff' } : {}),
    },
    encodeObject(media, status),
  );
}
