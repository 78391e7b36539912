import { createHash } from 'node:crypto';
import { publishedResources, vocabulary } from '@kruise/api/published';
import { publishedEndpoints } from '@kruise/api/published-endpoints';
import { apiVersionOf } from '@kruise/schema/kind';
import type { Json } from '@kruise/schema/openapi/definitions';
import { documentText } from '@kruise/schema/openapi/document-text';
import { encodeOpenApiV2 } from '@kruise/schema/openapi/gnostic';
import { encodeOpenApiV3 } from '@kruise/schema/openapi/gnostic-v3';
import type { Steps } from '@kruise/schema/openapi/steps';
import { buildOpenApiV2 } from '@kruise/schema/openapi-v2';
import { buildOpenApiV3, buildOpenApiV3OfPage, type PublishedResource } from '@kruise/schema/openapi-v3';
import type { Aggregation } from '../aggregation/aggregation.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import type { Headers, HttpRequest } from './http-request.ts';
import { type Pause, runInSteps } from './in-steps.ts';
import { parseAccept } from './negotiation.ts';
import type { EndpointHandler } from './non-resource-endpoints.ts';

/** Encoded document with its hash, for the ETag. */
type Document = { readonly bytes: Buffer; readonly hash: string; readonly madeAt: string };
/** Inputs of a document, and the function that builds it. */
type Described = { readonly of: readonly object[]; readonly make: () => Steps<Json> };

const jsonType = 'application/json';
const v2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const v3Protobuf = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
const yearMs = 365 * 86_400_000;

function document(bytes: Uint8Array, nowMs: number): Document {
  return {
    bytes: Buffer.from(bytes),
    hash: createHash('sha512').update(bytes).digest('hex').toUpperCase(),
    madeAt: new Date(nowMs).toUTCString(),
  };
}

/**
 * Returns JSON or protobuf, whichever is preferred; undefined if neither is accepted. Clients also write the type with
 * an `@`.
 */
function formOf(httpRequest: HttpRequest, protobuf: string): string | undefined {
  const types = parseAccept(httpRequest.headers.accept ?? '').map(({ type }) => type.replace('@', '.'));
  if (types.length === 0) return jsonType;
  return types.find((type) => [jsonType, protobuf, '*/*', 'application/*'].includes(type));
}

/** Writes a document as JSON. */
function* jsonOf(steps: Steps<Json>): Steps<Uint8Array> {
  const made = yield* steps;
  yield;
  const text = yield* documentText(made);
  yield;
  return Buffer.from(text);
}

/** Writes a document as protobuf. */
function* protobufOf(steps: Steps<Json>, encode: (document: Json) => Steps<Uint8Array>): Steps<Uint8Array> {
  const made = yield* steps;
  yield;
  return yield* encode(made);
}

/**
 * Serves `/openapi/v2` and `/openapi/v3`. Each document is built on its first request, and again after kinds change:
 * once for all clients that ask meanwhile, and in steps, between which other requests are served.
 */
export function openApiEndpoints(
  core: Core,
  aggregation: Pick<Aggregation, 'find' | 'generation' | 'openApiV2' | 'openApiV3'>,
  pause?: Pause,
): ReadonlyMap<string, EndpointHandler> {
  let generation = '';
  let documents = new Map<string, Promise<Document>>();
  const kept = new Map<string, { readonly of: Described['of']; readonly document: Promise<Document> }>();

  /** Returns a document of the current generation. */
  function known(name: string, make: () => Promise<Document>): Promise<Document> {
    const current = `${core.resources.generation} ${aggregation.generation}`;
    if (generation !== current) {
      generation = current;
      documents = new Map();
    }
    const found = documents.get(name);
    if (found) return found;
    const made = make();
    const known = documents;
    known.set(name, made);
    // A failure is not kept: the next request tries again.
    made.catch(() => known.delete(name));
    return made;
  }

  async function build(steps: Steps<Uint8Array>): Promise<Document> {
    return document(await runInSteps(steps, pause), core.clock.now());
  }

  function resources(): readonly PublishedResource[] {
    const custom = [...core.resources.all()].flatMap(({ published }) => published ?? []);
    return [...publishedResources, ...custom];
  }

  function byGroupVersion(): Map<string, PublishedResource[]> {
    const found = new Map<string, PublishedResource[]>();
    for (const resource of resources()) {
      const { group } = resource.kind;
      const path = group === '' ? `api/${resource.kind.version}` : `apis/${apiVersionOf(resource.kind)}`;
      found.set(path, [...(found.get(path) ?? []), resource]);
    }
    return found;
  }

  /** Returns the v2 document merged with those of the aggregated servers; local names take precedence. */
  function* wholeV2(): Steps<Json> {
    const remote = aggregation.openApiV2();
    const own = yield* buildOpenApiV2(resources(), vocabulary, publishedEndpoints);
    if (remote.length === 0) return own;
    const merged = (part: 'paths' | 'definitions'): Json =>
      Object.assign({}, ...remote.map((each) => each[part]), own[part] as object);
    return { ...own, paths: merged('paths'), definitions: merged('definitions') };
  }

  /** Returns the available documents. */
  function described(): Map<string, Described> {
    const found = new Map<string, Described>();
    for (const endpoint of publishedEndpoints) {
      found.set(endpoint.path.slice(1, -1), { of: [endpoint], make: () => buildOpenApiV3OfPage(endpoint, vocabulary) });
    }
    for (const [path, published] of byGroupVersion()) {
      found.set(path, { of: published, make: () => buildOpenApiV3(published[0]!.kind, published, vocabulary) });
    }
    return found;
  }

  /** Returns a v3 document; documents of groups that did not change are reused. */
  function v3(path: string, { of, make }: Described): Promise<Document> {
    const last = kept.get(path);
    if (last && last.of.length === of.length && last.of.every((each, index) => each === of[index])) {
      return last.document;
    }
    const made = build(jsonOf(make()));
    kept.set(path, { of, document: made });
    made.catch(() => {
      if (kept.get(path)?.document === made) kept.delete(path);
    });
    return made;
  }

  async function send(
    httpRequest: HttpRequest,
    { bytes, hash, madeAt }: Document,
    type: string,
    headers: Headers,
  ): Promise<void> {
    const etag = `"${hash}"`;
    const all = { ...headers, etag, vary: 'Accept', 'last-modified': madeAt, 'content-type': type };
    if (httpRequest.headers['if-none-match'] === etag) await httpRequest.send(304, all, '');
    else await httpRequest.send(200, all, bytes);
  }

  async function serveV2(httpRequest: HttpRequest, headers: Headers): Promise<void> {
    const wanted = formOf(httpRequest, v2Protobuf);
    if (wanted === undefined) return httpRequest.send(406, headers, '');
    const found = await (wanted === v2Protobuf
      ? known('v2 protobuf', () => build(protobufOf(wholeV2(), encodeOpenApiV2)))
      : known('v2', () => build(jsonOf(wholeV2()))));
    return send(httpRequest, found, wanted === v2Protobuf ? v2Protobuf : jsonType, headers);
  }

  /** Serves the index of documents; clients read it as JSON, whatever its type says. */
  async function serveIndex(httpRequest: HttpRequest, headers: Headers): Promise<void> {
    const root = await known('v3', async () => {
      const all = described();
      for (const path of kept.keys()) if (!all.has(path)) kept.delete(path);
      const hashes = new Map(aggregation.openApiV3());
      for (const [path, each] of all) hashes.set(path, (await v3(path, each)).hash);
      const paths = [...hashes]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, hash]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]);
      return document(Buffer.from(JSON.stringify({ paths: Object.fromEntries(paths) })), core.clock.now());
    });
    return send(httpRequest, root, 'text/plain; charset=utf-8', headers);
  }

  async function serveV3(
    httpRequest: HttpRequest,
    path: string,
    context: RequestContext,
    headers: Headers,
  ): Promise<void> {
    const asked = described().get(path);
    if (!asked) {
      const remote = aggregation.find(`/${path}`);
      return remote ? remote(httpRequest, context, headers) : httpRequest.send(404, headers, '');
    }
    const wanted = formOf(httpRequest, v3Protobuf);
    if (wanted === undefined) return httpRequest.send(406, headers, '');
    const found = await v3(path, asked);
    const hash = httpRequest.query.get('hash');
    if (hash !== null && hash !== found.hash) {
      await httpRequest.send(301, { ...headers, location: `/openapi/v3/${path}?hash=${found.hash}` }, '');
      return;
    }
    const cacheHeaders =
      hash === null
        ? headers
        : {
            ...headers,
            'cache-control': 'public, immutable',
            expires: new Date(core.clock.now() + yearMs).toUTCString(),
          };
    if (wanted !== v3Protobuf) return send(httpRequest, found, jsonType, cacheHeaders);
    const { bytes } = await known(`v3 protobuf ${path}`, () => build(protobufOf(asked.make(), encodeOpenApiV3)));
    return send(httpRequest, { ...found, bytes }, v3Protobuf, cacheHeaders);
  }

  return new Map<string, EndpointHandler>([
    ['/openapi/v2', (httpRequest, _context, headers) => serveV2(httpRequest, headers)],
    ['/openapi/v3', (httpRequest, _context, headers) => serveIndex(httpRequest, headers)],
    [
      '/openapi/v3/',
      (httpRequest, context, headers) => {
        const path = context.info.path.slice('/openapi/v3/'.length);
        return path === '' ? serveIndex(httpRequest, headers) : serveV3(httpRequest, path, context, headers);
      },
    ],
  ]);
}
