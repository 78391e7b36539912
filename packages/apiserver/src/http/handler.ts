import { randomUUID } from 'node:crypto';
import { badRequest, internalError, StatusError, unauthorized } from '@kruise/machinery/status';
import { parseYaml } from '@kruise/schema/yaml-text';
import type { Aggregation } from '../aggregation/aggregation.ts';
import type { AuditLog, AuditRecord } from '../audit/audit.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import { impersonate } from '../authentication/impersonation.ts';
import { authorize } from '../authorization/authorize.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { dispatch, type RequestResult, resolve } from '../dispatch.ts';
import type { Body } from '../handlers/body.ts';
import { PlainTextError, StatusErrorWithHeaders, unsupportedMethod } from '../handlers/http-errors.ts';
import { objectOf } from '../in-process.ts';
import { type RequestInfo, requestInfo } from '../request.ts';
import type { Resource } from '../resource.ts';
import type { User } from '../user.ts';
import { type EncodeContext, encodeComputed, encodeFound, encodeList, encodeObject } from './encode.ts';
import { createFanOut } from './fan-out.ts';
import type { FrameCache } from './frame-cache.ts';
import type { HandlerContext, HttpFilterChain } from './http-filter-chain.ts';
import type { Headers, HttpRequest } from './http-request.ts';
import {
  builtinOffer,
  checkForm,
  checkStream,
  errorMedia,
  listRouteTypes,
  type Media,
  mediaTypes,
  negotiate,
  type Offer,
  routeTypes,
  wantsPretty,
} from './negotiation.ts';
import type { NonResourceEndpoints } from './non-resource-endpoints.ts';
import { attemptedMethods, originOf } from './origin.ts';
import { send } from './send.ts';
import { warningHeaders } from './warnings.ts';
import { watchResponse } from './watch-response.ts';
import { createWriteScheduler } from './write-scheduler.ts';

export type HandlerOptions = {
  readonly core: Core;
  readonly authenticator: Authenticator;
  /** Non-resource endpoints: discovery, OpenAPI, health, version, metrics. */
  readonly endpoints: NonResourceEndpoints;
  readonly frames: FrameCache;
  /** Aggregated API servers. */
  readonly aggregation: Pick<Aggregation, 'find'>;
  /** Filter chain of every request. */
  readonly httpFilterChain: HttpFilterChain;
  /** Audit log; absent if auditing is disabled. */
  readonly audit?: AuditLog;
  /** Called with unexpected errors. */
  readonly onError: (error: unknown) => void;
};

const unauthenticatedUser: User = { username: '', groups: [] };

const customOffer: Offer = { ...builtinOffer, formats: ['json', 'yaml'] };
const noTableOffer: Offer = { ...builtinOffer, views: ['object', 'metadata', 'metadataList'] };

/** Returns the supported media types and views; actions and connect subresources have none. */
function offerOf({ subresource, plural }: RequestInfo, resource: Resource | undefined): Offer {
  if (resource?.custom) return customOffer;
  if (!resource) return plural === 'componentstatuses' ? builtinOffer : noTableOffer;
  return resource.subresources.get(subresource)?.type === 'action' ? noTableOffer : builtinOffer;
}

/** Negotiates the media type of the response to a routed request. */
function mediaFor(httpRequest: HttpRequest, { info, query, userAgent }: RequestContext, resource?: Resource): Media {
  const { accept } = httpRequest.headers;
  if (httpRequest.method === 'HEAD') throw unsupportedMethod(['GET']);
  if (!resource?.custom) checkForm(accept, info.verb === 'list' || info.verb === 'watch' ? listRouteTypes : routeTypes);
  const media = negotiate(accept ?? '', offerOf(info, resource), wantsPretty(query, userAgent));
  if (info.verb === 'watch') checkStream(media);
  return media;
}

/** Creates the HTTP handler: authenticates, runs the filter chain, dispatches, and encodes the response. */
export function createHandler(options: HandlerOptions): (httpRequest: HttpRequest) => Promise<void> {
  const { core, endpoints } = options;
  const fanOut = createFanOut();
  const writeScheduler = createWriteScheduler();

  async function contextOf(httpRequest: HttpRequest, user: User): Promise<RequestContext> {
    const { method, rawPath, query, headers, signal } = httpRequest;
    return {
      info: requestInfo(method, rawPath, query),
      query,
      user,
      userAgent: textOf(headers['user-agent']),
      clock: core.clock,
      random: core.random,
      signal,
      warnings: new Set(),
      auditAnnotations: new Map(),
    };
  }

  async function senderOf(httpRequest: HttpRequest, headers: Headers): Promise<User> {
    try {
      const sender = await options.authenticator.authenticate(httpRequest);
      if (sender) return sender;
      throw unauthorized();
    } catch (error) {
      if (options.audit) {
        const context = await contextOf(httpRequest, unauthenticatedUser);
        options.audit.unknown({
          context,
          origin: () => originOf(httpRequest, headers),
          why: attemptedMethods(httpRequest),
        });
      }
      throw error;
    }
  }

  async function serve(httpRequest: HttpRequest, headers: Headers): Promise<void> {
    const sender = await senderOf(httpRequest, headers);
    let user = sender;
    let rejection: unknown;
    try {
      user = await impersonate(core.authorizer, sender, httpRequest);
    } catch (error) {
      // Rejected within the filter chain, so that the attempt is counted and audited for its sender.
      rejection = error;
    }
    const context = await contextOf(httpRequest, user);
    await options.httpFilterChain(
      { httpRequest, context, sender, headers, rejection },
      (handlerContext) => answer(httpRequest, context, handlerContext),
      (handlerContext, error) =>
        refuse(httpRequest, { ...handlerContext.headers, ...warningHeaders(context) }, error, handlerContext.record),
    );
  }

  async function answer(
    httpRequest: HttpRequest,
    context: RequestContext,
    handlerContext: HandlerContext,
  ): Promise<void> {
    const { headers, record } = handlerContext;
    // Network requests are authorized only here: before their bodies are read, and before anything but the method, path
    // and query is parsed.
    await authorize(core, context);
    const remote = options.aggregation.find(context.info.path);
    if (remote) return remote(httpRequest, context, headers);
    if (!context.info.isResource) return endpoints.serve(httpRequest, context, headers);
    const connectSubresource = findConnectSubresource(core, context.info);
    if (connectSubresource) {
      if (!connectSubresource.methods.includes(httpRequest.method)) throw unsupportedMethod(connectSubresource.methods);
      if (context.query.has('dryRun')) throw badRequest('dryRun is not supported');
      await connectSubresource.connect(context, httpRequest, headers);
      return;
    }
    const resource = resolve(core, context);
    const media = mediaFor(httpRequest, context, resource);
    const body = await bodyOf(httpRequest);
    record?.request(() => sentValue(body));
    const writeSlot = body && writeScheduler.acquire();
    if (writeSlot) await writeSlot;
    const done = await dispatch(core, context, resource, body);
    record?.response(() => objectOf(done));
    await write(httpRequest, context, media, done, handlerContext);
  }

  function isCustom({ info }: RequestContext): boolean {
    return core.resources.find(info.group, info.version, info.plural)?.custom ?? false;
  }

  async function write(
    httpRequest: HttpRequest,
    context: RequestContext,
    media: Media,
    answer: RequestResult,
    { headers: common, leave }: HandlerContext,
  ): Promise<void> {
    const encoding: EncodeContext = { media, query: httpRequest.query, nowMs: core.clock.now() };
    const headers = { ...common, ...warningHeaders(context), 'content-type': mediaTypes[media.format] };
    switch (answer.type) {
      case 'found':
        return send(httpRequest, answer.code, headers, encodeFound(encoding, answer.resource, answer.found));
      case 'list':
        return send(httpRequest, 200, headers, encodeList(encoding, answer.resource, answer.listed));
      case 'object':
        return send(
          httpRequest,
          answer.code,
          headers,
          encodeComputed(encoding, answer.object, answer.schema, isCustom(context)),
        );
      case 'watch': {
        const type = media.format === 'protobuf' ? `${mediaTypes.protobuf};stream=watch` : mediaTypes[media.format];
        const closed = new AbortController();
        const signal = AbortSignal.any([httpRequest.signal, closed.signal]);
        const stream = httpRequest.begin(200, { ...headers, 'content-type': type });
        const counted = core.filterChain.watchEvents(answer.resource.kind);
        const watching = { ...encoding, frames: options.frames, fanOut, counted, clock: core.clock };
        const sink = watchResponse(watching, answer.resource, stream, () => closed.abort());
        await answer.open(sink, signal);
        // The watch only waits for changes from here on.
        return leave();
      }
    }
  }

  async function refuse(
    httpRequest: HttpRequest,
    headers: Headers,
    error: unknown,
    record?: AuditRecord,
  ): Promise<void> {
    if (error instanceof PlainTextError) {
      const plain = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
      await httpRequest.send(error.code, { ...headers, ...plain }, `${error.message}\n`);
      return;
    }
    const known = error instanceof StatusError;
    if (!known && !httpRequest.signal.aborted) options.onError(error);
    const { status, code } = known ? error : internalError(error instanceof Error ? error.message : String(error));
    record?.response(() => status);
    const retry = status.details?.retryAfterSeconds;
    const { accept, 'user-agent': userAgent = '' } = httpRequest.headers;
    const media = errorMedia(accept, wantsPretty(httpRequest.query, userAgent));
    const encoded = encodeObject(media, status);
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
      encoded,
    );
  }

  return async (httpRequest) => {
    const headers: Headers = { 'audit-id': randomUUID(), 'cache-control': 'no-cache, private' };
    try {
      await serve(httpRequest, headers);
    } catch (error) {
      await refuse(httpRequest, headers, error).catch(options.onError);
    }
  };
}

/** Returns the connect subresource of a path, if any. */
function findConnectSubresource(core: Core, { group, version, plural, name, subresource, rest }: RequestInfo) {
  if (subresource === '' || name === '') return undefined;
  const found = core.resources.find(group, version, plural)?.subresources.get(subresource);
  if (found?.type !== 'connect' || (rest.length > 0 && subresource !== 'proxy')) return undefined;
  return found;
}

/** Decodes a header as UTF-8, as Kubernetes does; Node.js decodes headers as Latin-1. */
function textOf(header: string | undefined): string {
  if (header === undefined) return '';
  return /[\x80-\xff]/.test(header) ? Buffer.from(header, 'latin1').toString() : header;
}

async function bodyOf({
  method,
  headers,
  body,
}: Pick<HttpRequest, 'method' | 'headers' | 'body'>): Promise<Body | undefined> {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const bytes = await body();
  if (bytes.length === 0 && method === 'DELETE') return undefined;
  return { type: 'bytes', contentType: headers['content-type'] ?? '', bytes };
}

/** Returns the request object for the audit log; an unparsable body is not recorded. */
function sentValue(body: Body | undefined): unknown {
  if (body?.type !== 'bytes' || !/json|yaml|^$/.test(body.contentType)) return undefined;
  try {
    return parseYaml(Buffer.from(body.bytes).toString());
  } catch {
    return undefined;
  }
}
