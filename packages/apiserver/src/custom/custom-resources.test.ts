import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { StatusError } from '@kruise/machinery/status';
import { systemClock, systemRandom } from '@kruise/values/system';
import { watchOptions } from '../handlers/list-options.ts';
import { prepareWatch } from '../handlers/watch.ts';
import type { KubeObject } from '../object.ts';
import { startApiServer } from '../server.ts';
import { createMemoryStore } from '../store/memory.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import type { Converter } from './converter.ts';
import { installDefinitions } from './install.ts';
import { internalRequest } from './own-request.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const toys = '/apis/example.com/v1/namespaces/play/toys';
const fields = (properties: object, more: object = {}) => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
  ...more,
});
const version = (name: string, schema: object, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: schema },
  ...more,
});
const definition = (versions: readonly object[], names: object = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'toys.example.com' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'toys', kind: 'Toy', ...names }, versions },
});
const toy = (spec: object = {}, metadata: object = {}, apiVersion = 'v1') => ({
  apiVersion: `example.com/${apiVersion}`,
  kind: 'Toy',
  metadata: { name: 'a', ...metadata },
  spec,
});

/** Sends requests by path, because only the definition knows the kind. */
function requests({ client }: TestServer) {
  const send = async (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown, more = {}) =>
    (await client.transport.request({ method, path, ...(body === undefined ? {} : { body }), ...more }))
      .object as KubeObject & {
      readonly spec?: Record<string, unknown>;
      readonly status?: Record<string, unknown>;
      readonly items?: readonly KubeObject[];
    };
  return {
    get: (path: string, query = {}) => send('GET', path, undefined, { query }),
    post: (path: string, body: unknown) => send('POST', path, body),
    put: (path: string, body: unknown) => send('PUT', path, body),
    merge: (path: string, body: unknown) => send('PATCH', path, body, { contentType: 'application/merge-patch+json' }),
    apply: (path: string, body: unknown, fieldManager: string) =>
      send('PATCH', path, body, { contentType: 'application/apply-patch+yaml', query: { fieldManager } }),
    remove: (path: string) => send('DELETE', path),
    watch: (path: string, signal: AbortSignal): Events =>
      client.transport.watch({ method: 'GET', path, query: { watch: true }, signal })[Symbol.asyncIterator](),
  };
}

async function start(made: KubeObject | undefined, options: Parameters<typeof startTestServer>[0] = {}) {
  const server = await startTestServer(options);
  await server.client.create(namespace, { metadata: { name: 'play' } });
  if (made) await installDefinitions(server.core, [made]);
  return { ...requests(server), server, core: server.core, [Symbol.asyncDispose]: () => server.close() };
}

const refusal = (code: number, message: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof StatusError, String(error));
  assert.equal(error.code, code);
  if (typeof message === 'string') assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

type Events = AsyncIterator<{ readonly type: string; readonly object: unknown }>;

/** Resolves to the object of the first event that satisfies a condition. */
async function until(events: Events, holds: (type: string, object: KubeObject) => boolean): Promise<KubeObject> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) return assert.fail('the watch ended early');
    if (holds(value.type, value.object as KubeObject)) return value.object as KubeObject;
  }
}

test('a status patch of a definition changes nothing else', async () => {
  await using server = await start(definition([version('v1', fields({}))]));
  const status = `${definitions}/toys.example.com/status`;
  const noted = { type: 'Tested', status: 'True' };
  const patched = await server.merge(status, { status: { conditions: [noted], storedVersions: null } });
  assert.deepEqual(patched.status?.['storedVersions'], ['v1']);
  assert.equal(patched.spec?.['group'], 'example.com');
});

test('an established definition is served', async () => {
  await using world = await start(undefined);
  const over = new AbortController();
  const events = world.watch(definitions, over.signal);
  await world.post(definitions, definition([version('v1', fields({}))]));
  await until(events, (_type, { status }) =>
    ((status as { conditions?: { type: string; status: string }[] }).conditions ?? []).some(
      ({ type, status: holds }) => type === 'Established' && holds === 'True',
    ),
  );
  over.abort();
  const made = await world.post(toys, toy());
  assert.equal(made.metadata.generation, 1);
});

test('objects are pruned and defaulted, with warnings about pruned fields', async () => {
  const schema = fields({ a: { type: 'string', default: 'A' }, n: { type: 'integer' } });
  await using world = await start(definition([version('v1', schema)]));
  const { object, warnings } = await world.server.client.transport.request({
    method: 'POST',
    path: toys,
    body: { ...toy({ n: 1, z: 2 }), other: true },
  });
  assert.deepEqual((object as KubeObject)['spec'], { n: 1, a: 'A' });
  assert.deepEqual(warnings, ['unknown field "other"', 'unknown field "spec.z"']);
  assert.deepEqual(Object.keys(object as object).slice(0, 3), ['apiVersion', 'kind', 'metadata']);
});

test('64-bit integers are exact', async () => {
  await using world = await start(definition([version('v1', fields({ n: { type: 'integer' } }))]));
  await world.post(toys, toy({ n: 9223372036854775807n }));
  assert.deepEqual((await world.get(`${toys}/a`)).spec, { n: 9223372036854775807n });
});

test('with a status subresource, object and status are written separately', async () => {
  const schema = fields({ n: { type: 'integer' } });
  await using world = await start(definition([version('v1', schema, { subresources: { status: {} } })]));
  const made = await world.post(toys, { ...toy({ n: 1 }), status: { n: 1 } });
  assert.equal(made.status, undefined);
  const noted = await world.merge(`${toys}/a/status`, {
    metadata: { labels: { a: 'b' } },
    spec: { n: 9 },
    status: { n: 2 },
  });
  assert.deepEqual([noted.spec, noted.status, noted.metadata.labels], [{ n: 1 }, { n: 2 }, undefined]);
  assert.equal(noted.metadata.generation, 1);
  const changed = await world.merge(`${toys}/a`, { spec: { n: 2 }, status: { n: 9 } });
  assert.deepEqual([changed.spec, changed.status, changed.metadata.generation], [{ n: 2 }, { n: 2 }, 2]);
});

test('without a status subresource, /status is not found', async () => {
  await using world = await start(definition([version('v1', fields({}))]));
  await world.post(toys, toy());
  await assert.rejects(world.get(`${toys}/a/status`), refusal(404, 'toys.example.com "a" not found'));
});

test('scale uses the paths of the definition', async () => {
  const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.n' };
  const schema = fields({ size: { type: 'integer' } });
  await using world = await start(definition([version('v1', schema, { subresources: { status: {}, scale } })]));
  await world.post(toys, toy());
  await assert.rejects(
    world.get(`${toys}/a/scale`),
    refusal(500, 'Internal error occurred: the spec replicas field ".spec.size" does not exist'),
  );
  await assert.rejects(
    world.merge(`${toys}/a/scale`, { metadata: { labels: {} } }),
    refusal(400, 'the spec replicas field ".spec.size" cannot be empty'),
  );
  await world.merge(`${toys}/a/scale`, { spec: { replicas: 3 } });
  await world.merge(`${toys}/a/status`, { status: { n: 2 } });
  const { spec, status } = await world.get(`${toys}/a/scale`);
  assert.deepEqual([spec, status], [{ replicas: 3 }, { replicas: 2 }]);
  assert.deepEqual((await world.get(`${toys}/a`)).spec, { size: 3 });
  await assert.rejects(
    world.merge(`${toys}/a/scale`, { spec: { replicas: -1 } }),
    refusal(422, 'Toy.example.com "a" is invalid: .spec.size: Invalid value: -1: should be a non-negative integer'),
  );
});

test('validation rules are skipped for an object with invalid metadata', async () => {
  const rules = { 'x-kubernetes-validations': [{ rule: 'false', message: 'never' }] };
  await using world = await start(definition([version('v1', fields({}, rules))]));
  await assert.rejects(
    world.post(toys, toy({}, { name: undefined })),
    refusal(
      422,
      'Toy.example.com "" is invalid: [metadata.name: Required value: name or generateName is required, <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    ),
  );
});

test('existing validation errors are ratcheted on unchanged fields', async () => {
  const loose = fields({ s: { type: 'string' }, e: { type: 'string' } });
  const strict = fields({ s: { type: 'string', maxLength: 3 }, e: { type: 'string' } });
  await using world = await start(definition([version('v1', loose)]));
  await world.post(toys, toy({ s: 'too long' }));
  await installDefinitions(world.core, [definition([version('v1', strict)])]);
  await assert.rejects(world.post(toys, toy({ s: 'too long' }, { name: 'b' })), refusal(422, /spec.s: Too long/));
  assert.deepEqual((await world.merge(`${toys}/a`, { spec: { e: 'x' } })).spec, { s: 'too long', e: 'x' });
  await assert.rejects(world.merge(`${toys}/a`, { spec: { s: 'also long' } }), refusal(422, /spec.s: Too long/));
});

const twoVersions = [
  version('v1', fields({ a: { type: 'string' }, d: { type: 'string', default: 'one' } })),
  version('v2', fields({ a: { type: 'string' }, e: { type: 'string', default: 'two' } }), {
    selectableFields: [{ jsonPath: '.spec.a' }],
  }),
];
const toysV2 = toys.replace('/v1/', '/v2/');

test('an object is served in every version, with the defaults of its storage version', async () => {
  await using world = await start(definition(twoVersions));
  await world.post(toys, toy({ a: 'x' }));
  assert.deepEqual((await world.get(`${toysV2}/a`)).spec, { a: 'x' });
  const made = await world.post(toysV2, toy({ a: 'y' }, { name: 'b' }, 'v2'));
  assert.deepEqual([made.apiVersion, made.spec], ['example.com/v2', { a: 'y' }]);
  assert.deepEqual((await world.get(`${toys}/b`)).spec, { a: 'y', d: 'one' });
  const { items } = await world.get(toysV2, { fieldSelector: 'spec.a=y' });
  assert.deepEqual(
    items?.map(({ metadata }) => metadata.name),
    ['b'],
  );
});

test('objects stored in several versions are listed together', async () => {
  await using world = await start(definition(twoVersions));
  await world.post(toys, toy({ a: 'x' }));
  const switched = twoVersions.map((each) => ({ ...each, storage: each.name === 'v2' }));
  await installDefinitions(world.core, [definition(switched)]);
  await world.post(toys, toy({ a: 'y' }, { name: 'b' }));
  const { items } = await world.get(toys);
  assert.deepEqual(
    items?.map(({ apiVersion, metadata }) => `${apiVersion} ${metadata.name}`),
    ['example.com/v1 a', 'example.com/v1 b'],
  );
  const { status } = await world.get(`${definitions}/toys.example.com`);
  assert.deepEqual(status?.['storedVersions'], ['v1', 'v2']);
});

test('a version that is no longer served is not found', async () => {
  await using world = await start(definition(twoVersions));
  const unserved = twoVersions.map((each) => ({ ...each, served: each.name === 'v1' }));
  await installDefinitions(world.core, [definition(unserved)]);
  assert.equal(world.core.resources.find('example.com', 'v2', 'toys'), undefined);
  assert.ok(world.core.resources.find('example.com', 'v1', 'toys'));
});

test('a watch ends when its definition changes, but not when only the status changes', async () => {
  await using world = await start(definition([version('v1', fields({}))]));
  const events = world.watch(toys, new AbortController().signal);
  await world.post(toys, toy());
  await until(events, (type) => type === 'ADDED');
  await world.merge(`${definitions}/toys.example.com`, { metadata: { labels: { a: 'b' } } });
  await world.merge(`${toys}/a`, { metadata: { labels: { a: 'b' } } });
  await until(events, (type) => type === 'MODIFIED');
  await installDefinitions(world.core, [definition([version('v1', fields({ a: { type: 'string' } }))])]);
  assert.equal((await events.next()).done, true);
});

test('a watch that misses a definition change ends at once', async () => {
  await using world = await start(definition([version('v1', fields({}))]));
  const before = world.core.resources.find('example.com', 'v1', 'toys')!;
  const open = prepareWatch(
    world.core,
    internalRequest(world.core, before, 'watch', toy() as KubeObject),
    before,
    watchOptions(new URLSearchParams(), false),
  );
  await installDefinitions(world.core, [definition([version('v1', fields({ a: { type: 'string' } }))])]);
  const ended = Promise.withResolvers<unknown>();
  const unexpected = () => assert.fail('the watch yielded an event');
  await open({ event: unexpected, bookmark: unexpected, end: ended.resolve }, new AbortController().signal);
  assert.equal(await ended.promise, undefined);
});

test('a definition is deleted after its objects, and creates are denied meanwhile', async () => {
  await using world = await start(definition([version('v1', fields({}))]));
  await world.post(toys, toy({}, { finalizers: ['example.com/hold'] }));
  await world.post(toys, toy({}, { name: 'b' }));
  const over = new AbortController();
  const events = world.watch(definitions, over.signal);
  await until(events, (type) => type === 'ADDED');
  const deleted = await world.remove(`${definitions}/toys.example.com`);
  assert.deepEqual(deleted.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
  await assert.rejects(
    world.post(toys, toy({}, { name: 'c' })),
    refusal(405, 'create not allowed while custom resource definition is terminating'),
  );
  await world.merge(`${toys}/a`, { metadata: { finalizers: null } });
  await until(events, (type) => type === 'DELETED');
  over.abort();
  await assert.rejects(world.get(toys), refusal(404, /could not find the requested resource/));
});

test('the names of a deleted definition become available', async () => {
  await using world = await start(definition([version('v1', fields({}))]));
  const games = definition([version('v1', fields({}))], { plural: 'games', kind: 'Toy', listKind: 'GameList' });
  await world.post(definitions, { ...games, metadata: { name: 'games.example.com' } });
  const over = new AbortController();
  const condition = (object: KubeObject, type: string) => {
    const { conditions = [] } = (object['status'] ?? {}) as {
      conditions?: { type: string; status: string; reason: string }[];
    };
    const found = conditions?.find((each) => each.type === type);
    return found && `${found.status} ${found.reason}`;
  };
  const conflicted = await until(world.watch(definitions, over.signal), (_type, object) => {
    return object.metadata.name === 'games.example.com' && condition(object, 'NamesAccepted') !== undefined;
  });
  assert.equal(condition(conflicted, 'NamesAccepted'), 'False KindConflict');
  assert.equal(condition(conflicted, 'Established'), 'False NotAccepted');
  await world.remove(`${definitions}/toys.example.com`);
  const accepted = await until(world.watch(definitions, over.signal), (_type, object) => {
    return (
      object.metadata.name === 'games.example.com' && condition(object, 'Established') === 'True InitialNamesAccepted'
    );
  });
  over.abort();
  assert.equal(condition(accepted, 'NamesAccepted'), 'True NoConflicts');
});

/** Renames `spec.a` of v1 to `spec.e` of v2 asynchronously. */
function slowConverter() {
  const calls: number[] = [];
  const converter: Converter = {
    async convert(objects, apiVersion) {
      calls.push(objects.length);
      await Promise.resolve();
      return objects.map((object) => {
        const { a, e } = (object['spec'] ?? {}) as { a?: string; e?: string };
        const spec = apiVersion.endsWith('v2') ? { e: a ?? e } : { a: e ?? a };
        return { ...object, apiVersion, spec };
      });
    },
  };
  return { calls, converterOf: () => converter };
}

test('a slow conversion runs once for all readers and watchers', async () => {
  const { calls, converterOf } = slowConverter();
  await using world = await start(definition(twoVersions), { converterOf });
  await world.post(toys, toy({ a: '1' }));
  await world.post(toys, toy({ a: '2' }, { name: 'b' }));
  calls.length = 0;
  assert.deepEqual(
    (await world.get(toysV2)).items?.map(({ spec }) => spec),
    [{ e: '1' }, { e: '2' }],
  );
  await world.get(toysV2);
  await world.get(`${toysV2}/a`);
  assert.deepEqual(calls, [2]);
  const over = new AbortController();
  const watches = [1, 2, 3].map(() => world.watch(toysV2, over.signal));
  const firsts = await Promise.all(
    watches.map((events) => until(events, (_type, { metadata }) => metadata.name === 'b')),
  );
  over.abort();
  assert.equal(new Set(firsts).size, 1);
  assert.deepEqual(calls, [2]);
});

test('field ownership is tracked per version', async () => {
  const { converterOf } = slowConverter();
  await using world = await start(definition(twoVersions), { converterOf });
  await world.apply(`${toys}/a`, toy({ a: 'x' }), 'one');
  await assert.rejects(
    world.apply(`${toysV2}/a`, toy({ e: 'y' }, {}, 'v2'), 'two'),
    refusal(409, 'Apply failed with 1 conflict: conflict with "one": .spec.a'),
  );
  await world.apply(`${toysV2}/a`, toy({ e: 'x' }, {}, 'v2'), 'two');
  assert.deepEqual((await world.get(`${toys}/a`)).spec, { a: 'x', d: 'one' });
});

test('a definition of a built-in resource changes nothing, and can be deleted', async () => {
  const name = 'customresourcedefinitions.apiextensions.k8s.io';
  const names = { plural: 'customresourcedefinitions', kind: 'Toy' };
  const plain = definition([version('v1', fields({}))], names);
  const overlapping: KubeObject = {
    ...plain,
    metadata: { name, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
    spec: { ...(plain['spec'] as object), group: 'apiextensions.k8s.io', scope: 'Cluster' },
  };
  await using world = await start(overlapping);
  const { kind } = await world.get(`${definitions}/${name}`);
  assert.equal(kind, 'CustomResourceDefinition');
  const over = new AbortController();
  const events = world.watch(definitions, over.signal);
  await until(events, (type) => type === 'ADDED');
  await world.remove(`${definitions}/${name}`);
  await until(events, (type) => type === 'DELETED');
  over.abort();
  await installDefinitions(world.core, [definition([version('v1', fields({}))])]);
});

test('another server on the same store serves the established definitions', async () => {
  const store = createMemoryStore({ clock: systemClock });
  const parts = {
    store,
    clock: systemClock,
    random: systemRandom,
    onError: (error: unknown) => assert.fail(String(error)),
  };
  const first = await startApiServer(parts);
  await installDefinitions(first.core, [definition([version('v1', fields({}))])]);
  const second = await startApiServer(parts);
  assert.ok(second.core.resources.find('example.com', 'v1', 'toys'));
  await first.close();
  await second.close();
});
