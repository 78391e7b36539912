/**
 * Request fuzzer: valid requests with a few mutations, of every kind, format and method. The same seed yields the same
 * requests. The caller judges the responses.
 */
import type { Node } from '@kruise/schema';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { encodeEnvelope } from '@kruise/schema/protobuf-envelope';
import { formatYaml } from '@kruise/schema/yaml-write';
import { pick, type Random, randomInteger } from '@kruise/values/random';

/** Request to send. */
export type FuzzedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
};

export type FuzzOptions = {
  readonly kinds: readonly Kind[];
  readonly namespace: string;
};

/** Returns the same request as a dry run. */
export function asDryRun({ path, ...request }: FuzzedRequest): FuzzedRequest {
  return { ...request, path: `${path.replace(/([?&])dryRun=[^&]*/g, '$1')}&dryRun=All` };
}

const names = ['one', 'two', 'three', 'default', 'kubernetes'];
const oddSegments = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2F',
  '%00',
  '%',
  '%zz',
  '%ff',
  '~',
  '*',
  'a:b',
  'a,b',
  '\\',
  '%5c',
  'watch',
];
const pages = [
  '/',
  '/api',
  '/apis',
  '/apis/apps',
  '/apis/apps/v1',
  '/version',
  '/livez',
  '/readyz',
  '/healthz/etcd',
].concat(['/metrics', '/metrics/slis', '/openapi/v2', '/openapi/v3', '/openapi/v3/apis/apps/v1', '/openid/v1/jwks']);
const texts = [
  '',
  ' ',
  'a',
  '-',
  '*',
  '0',
  'null',
  '\0',
  'ä€😀',
  '\ud800',
  'a/b',
  '../..',
  '{{',
  '$(X)',
  '1Gi',
  '50%',
].concat([
  'a'.repeat(64),
  'a'.repeat(300),
  '%s',
  '2024-01-01T00:00:00Z',
  '10.0.0.1',
  '::1',
  '0.0.0.0/0',
  'a=b',
  '__proto__',
]);
const numbers = [0, 1, -1, 2, 1.5, -0.0001, 2 ** 31 - 1, 2 ** 31, 2 ** 53, 1e30, -1e30, 65535, 65536];
const queries: { readonly [name: string]: readonly string[] } = {
  watch: ['0', '0', '0', 'true', ''],
  limit: ['1', '-1', 'x', '9223372036854775808'],
  continue: ['x', 'e30', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0'],
  resourceVersion: ['0', '1', 'x', '-1', '18446744073709551616'],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'x'],
  labelSelector: ['a=b', 'a in (b', '!a', 'a>1', 'a in (b,c),d', ',,', '\\', '('.repeat(200)],
  fieldSelector: ['metadata.name=one', 'metadata.name!=one', 'spec.nodeName=', 'a', '=', 'metadata.name=a\\,b', '\\'],
  dryRun: ['All', 'x', ''],
  fieldManager: ['me', '\0', 'a'.repeat(200)],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  force: ['true', 'x'],
  pretty: ['true', 'false'],
  timeout: ['1s', '-1s', 'x', '1ns'],
  sendInitialEvents: ['true', 'false'],
  allowWatchBookmarks: ['true'],
  gracePeriodSeconds: ['0', '-1', 'x'],
  propagationPolicy: ['Orphan', 'x'],
  includeObject: ['None', 'Metadata', 'Object', 'x'],
  container: ['a', ''],
  command: ['sh'],
  tailLines: ['-1', '1'],
  sinceSeconds: ['0', 'x'],
  stdin: ['true'],
  ports: ['80', 'x'],
  path: ['a/../b'],
};
const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  '*/*',
  'text/html',
  '',
].concat(
  ['application/json;as=Table;v=v1;g=meta.k8s.io', 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'],
  ['application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', ';;q=,', 'a/b;q=x,*/*;q=0.1'],
);
const patchTypes = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'];

/** Creates a function that returns a new request per call. */
export function createRequestFuzzer(random: Random, { kinds, namespace }: FuzzOptions): () => FuzzedRequest {
  const chance = (share: number) => random.next() < share;
  const oneOf = <T>(items: readonly T[]) => pick(random, items);

  return () => {
    if (chance(0.04))
      return {
        method: oneOf(['GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'PUT']),
        path: target(oneOf(pages)),
        headers: headers(),
      };
    const kind = oneOf(kinds);
    const name = oneOf(names);
    const subresource = kind.subresources.length > 0 && chance(0.2) ? oneOf(kind.subresources) : undefined;
    const method = oneOf([
      'POST',
      'POST',
      'POST',
      'PUT',
      'PUT',
      'PATCH',
      'PATCH',
      'PATCH',
      'GET',
      'DELETE',
      'HEAD',
      'x',
    ]);
    const hasName =
      subresource !== undefined || method === 'PUT' || method === 'PATCH' || (method !== 'POST' && chance(0.5));
    const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
    const place = kind.scope === 'Namespaced' ? `/namespaces/${namespace}` : '';
    const path = `${root}${place}/${kind.plural}${hasName ? `/${name}` : ''}${subresource === undefined ? '' : `/${subresource}`}`;
    if (method === 'GET' || method === 'HEAD' || (method === 'DELETE' && chance(0.7))) {
      return { method, path: target(path), headers: headers() };
    }
    const { contentType, body } = bodyOf(kind, name, method);
    return {
      method,
      path: target(path),
      headers: { ...headers(), 'content-type': contentType },
      body: chance(0.05) ? damaged(body) : body,
    };
  };

  function target(path: string): string {
    const segments = path.split('/');
    if (chance(0.08))
      segments.splice(randomInteger(random, segments.length + 1), randomInteger(random, 2), oneOf(oddSegments));
    if (chance(0.02))
      segments.splice(randomInteger(random, segments.length + 1), 0, 'x'.repeat(10 ** (2 + randomInteger(random, 3))));
    const query = new URLSearchParams();
    for (let count = chance(0.5) ? randomInteger(random, 4) : 0; count > 0; count--) {
      const name = oneOf(Object.keys(queries));
      query.append(name, chance(0.9) ? oneOf(queries[name]!) : text());
    }
    // A watch or a log without an end would block the fuzzer.
    query.set('timeoutSeconds', '1');
    if (chance(0.5)) query.set('dryRun', 'All');
    return `/${segments.join('/').replace(/^\//, '')}?${query}`;
  }

  function headers(): { readonly [name: string]: string } {
    return {
      ...(chance(0.7) ? { accept: oneOf(accepts) } : {}),
      ...(chance(0.2) ? { 'accept-encoding': 'gzip' } : {}),
      ...(chance(0.1) ? { 'user-agent': oneOf(['kubectl', 'curl/8', 'x/'.repeat(100), '']) } : {}),
      ...(chance(0.005)
        ? { 'impersonate-user': oneOf(['admin', 'system:admin', 'system:serviceaccount:a:b', '']) }
        : {}),
      ...(chance(0.002) ? { 'impersonate-group': oneOf(['system:masters', '']) } : {}),
      ...(chance(0.02) ? { 'if-none-match': '"x"', range: 'bytes=0-1' } : {}),
    };
  }

  function bodyOf(
    kind: Kind,
    name: string,
    method: string,
  ): { readonly contentType: string; readonly body: Uint8Array } {
    const object = mutated(objectOf(kind, name));
    const form = random.next();
    if (method === 'PATCH') {
      const type = oneOf(patchTypes);
      const contentType = chance(0.97) ? `application/${type}` : oneOf(['application/json', 'text/html', 'x']);
      if (type !== 'json-patch+json')
        return { contentType, body: textOf(object, type === 'apply-patch+yaml' && form < 0.5) };
      const operations = Array.from({ length: 1 + randomInteger(random, 3) }, () => ({
        op: oneOf(['add', 'remove', 'replace', 'test', 'move', 'copy', 'x']),
        path: pointerInto(object),
        from: pointerInto(object),
        value: anything(2),
      }));
      return { contentType, body: textOf(operations, false) };
    }
    if (form < 0.2) return { contentType: 'application/yaml', body: textOf(object, true) };
    const message = form < 0.4 ? messageOf(kind, object) : undefined;
    if (message) return { contentType: 'application/vnd.kubernetes.protobuf', body: message };
    return {
      contentType: chance(0.98) ? 'application/json' : oneOf(['', 'text/html', 'application/cbor']),
      body: textOf(object, false),
    };
  }

  /** Creates an object that is valid by type; its values may be meaningless. */
  function objectOf(kind: Kind, name: string): unknown {
    const made = exampleOf(kind.root, 0) as { [field: string]: unknown };
    const scoped = kind.scope === 'Namespaced' ? { namespace } : {};
    const metadata = chance(0.7) ? { name, ...scoped } : { ...(made.metadata as object), name, ...scoped };
    return { ...made, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
  }

  function exampleOf(node: Node, depth: number): unknown {
    switch (node.type) {
      case 'lazy':
        return depth > 6 ? {} : exampleOf(node.resolve(), depth);
      case 'object': {
        const made: { [name: string]: unknown } = {};
        // At greater depth only a few members are set, so that objects stay small.
        const share = depth === 0 ? 1 : depth < 3 ? 0.7 : depth < 6 ? 0.3 : 0.1;
        for (const [field, member] of Object.entries(node.fields)) {
          const isField = 'node' in member;
          if (chance(share)) made[field] = exampleOf(isField ? member.node : member, depth + 1);
        }
        return made;
      }
      case 'list':
        return Array.from({ length: randomInteger(random, 3) }, () => exampleOf(node.items, depth + 1));
      case 'map':
        return Object.fromEntries(
          Array.from({ length: randomInteger(random, 3) }, () => [
            oneOf(['a', 'b', 'app', 'example.com/x', text()]),
            exampleOf(node.values, depth + 1),
          ]),
        );
      case 'either':
        return exampleOf(node.object, depth + 1);
      case 'any':
        return anything(2);
      case 'boolean':
        return chance(0.5);
      case 'integer':
        return chance(0.7) ? randomInteger(random, 10) : Math.trunc(oneOf(numbers));
      case 'number':
        return oneOf(numbers);
      case 'intOrString':
        return oneOf([80, 'http', '50%', 0, -1]);
      case 'string':
        if (node.knownValues && node.knownValues.length > 0 && chance(0.8)) return oneOf(node.knownValues);
        if (node.constraints?.enum && chance(0.8)) return oneOf(node.constraints.enum);
        return chance(0.7) ? oneOf(['a', 'app', 'one', 'example.com/a', '10.96.0.1', 'nginx:1']) : text();
      case 'bytes':
        return oneOf(['', 'YQ==', 'x']);
      case 'quantity':
        return oneOf(['1', '100m', '1Gi', '-1', '1e99', 'x', 1]);
      case 'duration':
        return oneOf(['1s', '-1h', 'x']);
      default:
        return oneOf(['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.123456Z', null, 'x']);
    }
  }

  function text(): string {
    return oneOf(texts);
  }

  function anything(depth: number): unknown {
    switch (randomInteger(random, depth > 0 ? 8 : 6)) {
      case 0:
        return null;
      case 1:
        return chance(0.5);
      case 2:
        return oneOf(numbers);
      case 3:
      case 4:
        return text();
      case 5:
        return oneOf<unknown>([{}, [], '']);
      case 6:
        return Array.from({ length: randomInteger(random, 4) }, () => anything(depth - 1));
      default:
        return Object.fromEntries(
          Array.from({ length: randomInteger(random, 4) }, () => [text(), anything(depth - 1)]),
        );
    }
  }

  /** Returns the object with up to three random changes. */
  function mutated(object: unknown): unknown {
    let made = object;
    for (let count = randomInteger(random, 4); count > 0; count--) made = changed(made, 1 + randomInteger(random, 6));
    return made;
  }

  function changed(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null || depth === 0) return chance(0.4) ? null : anything(2);
    if (Array.isArray(value)) {
      if (value.length === 0) return chance(0.5) ? [anything(1)] : anything(1);
      const at = randomInteger(random, value.length);
      if (chance(0.15)) return [...value, value[at]];
      return value.with(at, changed(value[at], depth - 1));
    }
    const keys = Object.keys(value);
    if (keys.length === 0 || chance(0.05)) return { ...value, [text()]: anything(2) };
    const key = oneOf(keys);
    const { [key]: old, ...rest } = value as { readonly [key: string]: unknown };
    if (chance(0.08)) return rest;
    return { ...value, [key]: changed(old, depth - 1) };
  }

  function pointerInto(value: unknown): string {
    let pointer = '';
    let at = value;
    while (typeof at === 'object' && at !== null && chance(0.8)) {
      const keys = Object.keys(at);
      if (keys.length === 0) break;
      const key = chance(0.9) ? oneOf(keys) : text();
      pointer += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      at = (at as { readonly [key: string]: unknown })[key];
    }
    return chance(0.9) ? pointer : text();
  }

  function textOf(value: unknown, asYaml: boolean): Uint8Array {
    return Buffer.from(asYaml ? formatYaml(value) : JSON.stringify(value));
  }

  /** Returns the object as protobuf, if it can be encoded: some mutations cannot. */
  function messageOf(kind: Kind, object: unknown): Uint8Array | undefined {
    const codec = codecOf(kind.root);
    try {
      const raw = codec.toProtobuf(codec.fromJson(object));
      return encodeEnvelope(apiVersionOf(kind), kind.kind, chance(0.3) ? damaged(raw) : raw);
    } catch {
      return undefined;
    }
  }

  /** Returns the bytes with some changed, removed or repeated. */
  function damaged(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return bytes;
    const made = Buffer.from(bytes);
    const at = randomInteger(random, made.length);
    switch (randomInteger(random, 4)) {
      case 0:
        return made.subarray(0, at);
      case 1:
        return Buffer.concat([made.subarray(0, at), made.subarray(randomInteger(random, made.length))]);
      default:
        made[at] = randomInteger(random, 256);
        return made;
    }
  }
}
