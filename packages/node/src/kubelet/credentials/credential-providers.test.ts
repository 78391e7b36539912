import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { credentialsFor } from '../containers/pull-secrets.ts';
import { createCredentialProviders } from './credential-providers.ts';
import type { CredentialProvider } from './provider-config.ts';

const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
const provider: CredentialProvider = {
  name: 'plugin',
  matchImages: ['*.registry.io'],
  defaultCacheMs: 60_000,
  apiVersion,
  args: [],
  env: [],
};
const response = (fields: object = {}) => ({
  kind: 'CredentialProviderResponse',
  apiVersion,
  cacheKeyType: 'Image',
  auth: { '*.registry.io': { username: 'u', password: 'p' } },
  ...fields,
});

/** Creates providers whose plugins respond with the given values. */
function start(respond: (image: string) => unknown, providers: readonly CredentialProvider[] = [provider]) {
  const clock = virtualClock(0);
  const requested: string[] = [];
  const errors: string[] = [];
  const stop = new AbortController();
  const provide = createCredentialProviders(providers, {
    clock,
    async call({ name }, request) {
      const { image, ...rest } = JSON.parse(request) as { image: string };
      assert.deepEqual(rest, { kind: 'CredentialProviderRequest', apiVersion });
      requested.push(name === 'plugin' ? image : `${name} ${image}`);
      const answer = await respond(image);
      return typeof answer === 'string' ? answer : JSON.stringify(answer);
    },
    onError: (name, error) => void errors.push(`${name}: ${(error as Error).message}`),
    signal: stop.signal,
  });
  const users = async (image: string) => credentialsFor(image, await provide(image)).map(({ username }) => username);
  return { clock, requested, errors, users, stop };
}

test('a plugin is called with the repository of a matching image', async () => {
  const node = start(() => response());
  assert.deepEqual(await node.users('eu.registry.io/team/app:1'), ['u']);
  assert.deepEqual(await node.users('other.io/team/app:1'), []);
  assert.deepEqual(await node.users('NOT AN IMAGE'), []);
  assert.deepEqual(node.requested, ['eu.registry.io/team/app']);
});

const cacheRows: readonly (readonly [type: string, calls: readonly string[]])[] = [
  ['Image', ['eu.registry.io/a', 'eu.registry.io/b', 'us.registry.io/a']],
  ['Registry', ['eu.registry.io/a', 'us.registry.io/a']],
  ['Global', ['eu.registry.io/a']],
];
for (const [cacheKeyType, calls] of cacheRows) {
  test(`a response with the cache key type ${cacheKeyType} serves every image of its kind`, async () => {
    const node = start(() => response({ cacheKeyType }));
    for (const image of ['eu.registry.io/a:1', 'eu.registry.io/a:2', 'eu.registry.io/b', 'us.registry.io/a']) {
      assert.deepEqual(await node.users(image), ['u']);
    }
    assert.deepEqual(node.requested, calls);
  });
}

const durationRows: readonly (readonly [title: string, fields: object, cachedSeconds: number])[] = [
  ['no duration', {}, 60],
  ['its own duration', { cacheDuration: '5m' }, 300],
  ['the duration zero', { cacheDuration: '0s' }, 0],
  ['a negative duration', { cacheDuration: '-1h' }, 0],
];
for (const [title, fields, cachedSeconds] of durationRows) {
  test(`a response with ${title} is cached for ${cachedSeconds} s`, async () => {
    const node = start(() => response(fields));
    await node.users('eu.registry.io/a');
    if (cachedSeconds > 0) {
      node.clock.advance(cachedSeconds * 1000 - 1);
      await node.users('eu.registry.io/a');
      assert.equal(node.requested.length, 1);
      node.clock.advance(1);
    }
    await node.users('eu.registry.io/a');
    assert.equal(node.requested.length, 2);
  });
}

test('concurrent calls for an image are coalesced', async () => {
  const answer = Promise.withResolvers<unknown>();
  const node = start(() => answer.promise);
  const all = Array.from({ length: 5 }, () => node.users('eu.registry.io/a'));
  answer.resolve(response({ cacheDuration: '0s' }));
  assert.deepEqual(await Promise.all(all), Array(5).fill(['u']));
  assert.equal(node.requested.length, 1);
});

test('the processes of a plugin are limited, and those that waited use the cache', async () => {
  const answer = Promise.withResolvers<unknown>();
  const node = start(() => answer.promise);
  const all = Array.from({ length: 50 }, (_, index) => node.users(`eu.registry.io/a${index}`));
  await new Promise(setImmediate);
  assert.equal(node.requested.length, 8);
  answer.resolve(response({ cacheKeyType: 'Registry' }));
  assert.deepEqual(await Promise.all(all), Array(50).fill(['u']));
  assert.equal(node.requested.length, 8);
});

test('the cache is bounded, and the oldest response is dropped first', async () => {
  const node = start(() => response());
  for (let index = 0; index <= 256; index++) await node.users(`eu.registry.io/a${index}`);
  await node.users('eu.registry.io/a1');
  assert.equal(node.requested.length, 257);
  await node.users('eu.registry.io/a0');
  assert.equal(node.requested.length, 258);
});

test('credentials of all matching plugins are combined, the earlier plugin first', async () => {
  const second = { ...provider, name: 'second' };
  let count = 0;
  const node = start(
    () => response({ auth: { 'eu.registry.io': { username: `u${++count}`, password: 'p' } } }),
    [provider, second],
  );
  assert.deepEqual(await node.users('eu.registry.io/a'), ['u1', 'u2']);
  assert.deepEqual(node.requested, ['eu.registry.io/a', 'second eu.registry.io/a']);
});

test('credentials for another registry are not used', async () => {
  const node = start(() => response({ auth: { 'us.registry.io': { username: 'u', password: 'p' } } }));
  assert.deepEqual(await node.users('eu.registry.io/a'), []);
});

test('a response without credentials is cached', async () => {
  const node = start(() => response({ auth: null }));
  assert.deepEqual(await node.users('eu.registry.io/a'), []);
  assert.deepEqual(await node.users('eu.registry.io/a'), []);
  assert.equal(node.requested.length, 1);
});

const faults: readonly (readonly [title: string, answer: unknown, error: RegExp])[] = [
  ['is not JSON', 'hunter2', /not valid JSON/],
  ['is another kind', response({ kind: 'Pod' }), /not a CredentialProviderResponse/],
  ['is null', 'null', /not a CredentialProviderResponse/],
  ['has another version', response({ apiVersion: 'v2', auth: 'hunter2' }), /did not match expected apiVersion/],
  ['has an unknown cache key type', response({ cacheKeyType: 'hunter2' }), /no valid cacheKeyType/],
  ['has an invalid duration', response({ cacheDuration: 'hunter2' }), /not a duration/],
  ['has a list of credentials', response({ auth: ['hunter2'] }), /no username and password/],
  ['has a number as password', response({ auth: { a: { username: 'hunter2', password: 1 } } }), /no username/],
];
for (const [title, answer, error] of faults) {
  test(`a response that ${title} provides no credentials, is logged without its content and not cached`, async () => {
    const node = start(() => answer);
    assert.deepEqual(await node.users('eu.registry.io/a'), []);
    assert.deepEqual(await node.users('eu.registry.io/a'), []);
    assert.equal(node.requested.length, 2);
    assert.equal(node.errors.length, 2);
    assert.match(node.errors[0]!, error);
    assert.doesNotMatch(node.errors.join(), /hunter2/);
  });
}

test('a plugin that fails does not hide the credentials of another', async () => {
  let count = 0;
  const node = start(
    () => (++count === 1 ? Promise.reject(new Error('no')) : response()),
    [provider, { ...provider, name: 'second' }],
  );
  assert.deepEqual(await node.users('eu.registry.io/a'), ['u']);
  assert.deepEqual(node.errors, ['plugin: no']);
});
