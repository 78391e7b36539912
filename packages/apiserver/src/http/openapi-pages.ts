import { createHash } from 'node:crypto';
import { publishedResources, vocabulary } from '@kruise/api/published';
import { apiVersionOf } from '@kruise/schema/kind';
import { encodeOpenApiV2 } from '@kruise/schema/openapi/gnostic';
import { openApiV2 } from '@kruise/schema/openapi-v2';
import { openApiV3, type PublishedResource } from '@kruise/schema/openapi-v3';
import type { Core } from '../core.ts';
import { noSuchPath, PlainRefusal } from '../handlers/refusal.ts';
import type { Exchange, Headers } from './exchange.ts';
import { parseAccept } from './negotiation.ts';

/** A document as it is sent, and what tells it from an earlier one. */
type Document = { readonly bytes: Buffer; readonly hash: string };

const jsonType = 'application/json';
const v2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const yearMs = 365 * 86_400_000;

function document(bytes: Uint8Array): Document {
  return { bytes: Buffer.from(bytes), hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

/** Serves `/openapi/v2` and `/openapi/v3`: each document is made when first asked for, and again when kinds change. */
export function createOpenApiPages(core: Core): {
  serve(exchange: Exchange, segments: readonly string[], headers: Headers): Promise<void>;
} {
  let generation = -1;
  let documents = new Map<string, Document>();

  function known(name: string, make: () => Uint8Array): Document {
    if (generation !== core.resources.generation) {
      generation = core.resources.generation;
      documents = new Map();
    }
    let found = documents.get(name);
    if (!found) documents.set(name, (found = document(make())));
    return found;
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

  function v3(path: string, published: readonly PublishedResource[]): Document {
    const [first] = published;
    return known(`v3 ${path}`, () => Buffer.from(JSON.stringify(openApiV3(first!.kind, published, vocabulary))));
  }

  async function send(exchange: Exchange, { bytes, hash }: Document, type: string, headers: Headers): Promise<void> {
    const etag = `"${hash}"`;
    const all = { ...headers, etag, vary: 'Accept', 'content-type': type };
    if (exchange.headers['if-none-match'] === etag) await exchange.send(304, all, '');
    else await exchange.send(200, all, bytes);
  }

  async function serveV2(exchange: Exchange, headers: Headers): Promise<void> {
    const types = parseAccept(exchange.headers.accept ?? '').map(({ type }) => type.replace('@', '.'));
    const wanted =
      types.length === 0
        ? jsonType
        : types.find((type) => [jsonType, v2Protobuf, '*/*', 'application/*'].includes(type));
    if (wanted === undefined) throw new PlainRefusal(406, '');
    const json = () => known('v2', () => Buffer.from(JSON.stringify(openApiV2(resources(), vocabulary))));
    if (wanted !== v2Protobuf) return send(exchange, json(), jsonType, headers);
    const protobuf = known('v2 protobuf', () => encodeOpenApiV2(openApiV2(resources(), vocabulary)));
    return send(exchange, protobuf, v2Protobuf, headers);
  }

  async function serveV3(exchange: Exchange, path: string, headers: Headers): Promise<void> {
    const groups = byGroupVersion();
    if (path === '') {
      const paths = Object.fromEntries(
        [...groups].map(([each, published]) => [
          each,
          { serverRelativeURL: `/openapi/v3/${each}?hash=${v3(each, published).hash}` },
        ]),
      );
      const root = known('v3', () => Buffer.from(JSON.stringify({ paths })));
      return send(exchange, root, jsonType, headers);
    }
    const published = groups.get(path);
    if (!published) throw noSuchPath();
    const found = v3(path, published);
    const asked = exchange.query.get('hash');
    if (asked !== null && asked !== found.hash) {
      await exchange.send(301, { ...headers, location: `/openapi/v3/${path}?hash=${found.hash}` }, '');
      return;
    }
    const lasting =
      asked === null
        ? headers
        : {
            ...headers,
            'cache-control': 'public, immutable',
            expires: new Date(core.clock.now() + yearMs).toUTCString(),
          };
    return send(exchange, found, jsonType, lasting);
  }

  return {
    async serve(exchange, [version, ...rest], headers) {
      if (version === 'v2' && rest.length === 0) return serveV2(exchange, headers);
      if (version === 'v3') return serveV3(exchange, rest.join('/'), headers);
      throw noSuchPath();
    },
  };
}
