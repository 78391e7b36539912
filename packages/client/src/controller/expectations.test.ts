import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { isVersionAtLeast, type KubernetesObject } from '../cache/object-key.ts';
import { createExpectations, type ObservedCache } from './expectations.ts';

const objectAt = (version: string, more: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', uid: 'one', resourceVersion: version, ...more },
});

/** A cache with one object, at a resourceVersion. */
function makeCache() {
  let known: KubernetesObject | undefined;
  let reached = '1';
  const seen: ObservedCache = {
    get: () => known,
    hasReached: (version) => isVersionAtLeast(reached, version),
    getLive: async () => assert.fail('all results are known'),
  };
  return {
    ...seen,
    show: (object: KubernetesObject | undefined, version: string) => {
      known = object;
      reached = version;
    },
  };
}

test('a write is unsatisfied until the cache has that version or a later one', () => {
  const cache = makeCache();
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('10'));
  assert.equal(expectations.unsatisfied('owner')?.count, 1);
  cache.show(objectAt('9'), '9');
  assert.equal(expectations.unsatisfied('owner')?.count, 1);
  cache.show(objectAt('11'), '11');
  assert.equal(expectations.unsatisfied('owner'), undefined);
});

test('an object that was created and deleted meanwhile satisfies the expectation', () => {
  const cache = makeCache();
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('10'));
  cache.show(undefined, '12');
  assert.equal(expectations.unsatisfied('owner'), undefined);
});

test('an event before the response of the server satisfies the expectation', () => {
  const cache = makeCache();
  cache.show(objectAt('10'), '10');
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('10'));
  assert.equal(expectations.unsatisfied('owner'), undefined);
});

test('resourceVersions are compared as numbers of any length', () => {
  const cache = makeCache();
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('100'));
  cache.show(objectAt('99'), '99');
  assert.equal(expectations.unsatisfied('owner')?.count, 1);
  cache.show(objectAt('18446744073709551615'), '18446744073709551615');
  assert.equal(expectations.unsatisfied('owner'), undefined);
});

const deletions = [
  { name: 'a deleted object in the cache is unsatisfied', shown: objectAt('9'), isSeen: false },
  {
    name: 'a terminating object satisfies the deletion',
    shown: objectAt('9', { deletionTimestamp: 'now' }),
    isSeen: true,
  },
  { name: 'a missing object satisfies the deletion', shown: undefined, isSeen: true },
  {
    name: 'another object with the same name satisfies the deletion',
    shown: objectAt('9', { uid: 'two' }),
    isSeen: true,
  },
];
for (const { name, shown, isSeen } of deletions) {
  test(name, () => {
    const cache = makeCache();
    cache.show(shown, '9');
    const expectations = createExpectations(virtualClock());
    expectations.expectDeletion('owner', cache, objectAt('8'));
    assert.equal(expectations.unsatisfied('owner') === undefined, isSeen);
  });
}

const ends = [
  {
    name: 'a gone object is unsatisfied while the cache has it, even as terminating',
    shown: objectAt('9', { deletionTimestamp: 'now' }),
    isSeen: false,
  },
  { name: 'a missing object satisfies the expectation that it is gone', shown: undefined, isSeen: true },
  {
    name: 'another object with the same name satisfies the expectation that it is gone',
    shown: objectAt('9', { uid: 'two' }),
    isSeen: true,
  },
];
for (const { name, shown, isSeen } of ends) {
  test(name, () => {
    const cache = makeCache();
    cache.show(shown, '9');
    const expectations = createExpectations(virtualClock());
    expectations.expectGone('owner', cache, objectAt('8'));
    assert.equal(expectations.unsatisfied('owner') === undefined, isSeen);
  });
}

test('an owner waits only for its own writes, until the timeout', () => {
  const clock = virtualClock();
  const cache = makeCache();
  const expectations = createExpectations(clock, { timeoutMs: 1000 });
  expectations.expectVersion('owner', cache, objectAt('10'));
  assert.equal(expectations.unsatisfied('other'), undefined);
  clock.advance(999);
  assert.equal(expectations.unsatisfied('owner')?.isTimedOut, false);
  clock.advance(1);
  assert.deepEqual(expectations.unsatisfied('owner'), { count: 1, waitedMs: 1000, isTimedOut: true });
  expectations.forget('owner');
  assert.equal(expectations.unsatisfied('owner'), undefined);
});

test('an object with an unknown write result is read live and expected in that version', async () => {
  const cache = { ...makeCache(), getLive: async () => objectAt('12') };
  const expectations = createExpectations(virtualClock());
  expectations.uncertainWrite('owner', cache, objectAt('10'));
  await expectations.resolveUncertain('owner');
  assert.equal(expectations.unsatisfied('owner')?.count, 1);
  cache.show(objectAt('12'), '12');
  assert.equal(expectations.unsatisfied('owner'), undefined);
  assert.equal(expectations.resolveUncertain('owner'), undefined);
});

test('an object with an unknown write result that is not found is expected to be gone', async () => {
  const cache = { ...makeCache(), getLive: async () => undefined };
  cache.show(objectAt('10'), '10');
  const expectations = createExpectations(virtualClock());
  expectations.uncertainWrite('owner', cache, objectAt('10'));
  await expectations.resolveUncertain('owner');
  assert.equal(expectations.unsatisfied('owner')?.count, 1);
  cache.show(undefined, '12');
  assert.equal(expectations.unsatisfied('owner'), undefined);
});

test('an object that was never created and is not cached is not waited for', async () => {
  const cache = { ...makeCache(), getLive: async () => undefined };
  const expectations = createExpectations(virtualClock());
  expectations.uncertainWrite('owner', cache, objectAt('', { uid: undefined, resourceVersion: undefined }));
  await expectations.resolveUncertain('owner');
  assert.equal(expectations.unsatisfied('owner'), undefined);
});

test('a server that does not respond is asked once, and all results stay unknown', async () => {
  let asked = 0;
  const cache = {
    ...makeCache(),
    getLive: async () => {
      if (asked++ === 0) throw new Error('no answer');
      return undefined;
    },
  };
  const expectations = createExpectations(virtualClock());
  for (const name of ['a', 'b']) expectations.uncertainWrite('owner', cache, objectAt('10', { name }));
  await assert.rejects(expectations.resolveUncertain('owner')!, /no answer/);
  assert.equal(asked, 1);
  await expectations.resolveUncertain('owner');
  assert.equal(asked, 3);
});
