import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createExpectations, type Witness } from './expectations.ts';
import { isAtLeast, type KubernetesObject } from './object-key.ts';

const objectAt = (version: string, more: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', uid: 'one', resourceVersion: version, ...more },
});

/** A cache that knows one object and has got so far. */
function witness() {
  let known: KubernetesObject | undefined;
  let reached = '1';
  const seen: Witness = {
    get: () => known,
    hasReached: (version) => isAtLeast(reached, version),
    ask: async () => assert.fail('nobody is in doubt'),
  };
  return {
    ...seen,
    show: (object: KubernetesObject | undefined, version: string) => {
      known = object;
      reached = version;
    },
  };
}

test('what was written is outstanding until the cache shows that version or a later one', () => {
  const cache = witness();
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('10'));
  assert.equal(expectations.outstanding('owner')?.count, 1);
  cache.show(objectAt('9'), '9');
  assert.equal(expectations.outstanding('owner')?.count, 1);
  cache.show(objectAt('11'), '11');
  assert.equal(expectations.outstanding('owner'), undefined);
});

test('what was made and is gone again has been seen', () => {
  const cache = witness();
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('10'));
  cache.show(undefined, '12');
  assert.equal(expectations.outstanding('owner'), undefined);
});

test('what the cache has shown before the server answered is not waited for', () => {
  const cache = witness();
  cache.show(objectAt('10'), '10');
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('10'));
  assert.equal(expectations.outstanding('owner'), undefined);
});

test('versions are compared as numbers, however long they are', () => {
  const cache = witness();
  const expectations = createExpectations(virtualClock());
  expectations.expectVersion('owner', cache, objectAt('100'));
  cache.show(objectAt('99'), '99');
  assert.equal(expectations.outstanding('owner')?.count, 1);
  cache.show(objectAt('18446744073709551615'), '18446744073709551615');
  assert.equal(expectations.outstanding('owner'), undefined);
});

const deletions = [
  { name: 'a deleted object that is still there is outstanding', shown: objectAt('9'), isSeen: false },
  {
    name: 'a deleted object on its way out has been seen',
    shown: objectAt('9', { deletionTimestamp: 'now' }),
    isSeen: true,
  },
  { name: 'a deleted object that is gone has been seen', shown: undefined, isSeen: true },
  { name: 'another of its name is not the deleted object', shown: objectAt('9', { uid: 'two' }), isSeen: true },
];
for (const { name, shown, isSeen } of deletions) {
  test(name, () => {
    const cache = witness();
    cache.show(shown, '9');
    const expectations = createExpectations(virtualClock());
    expectations.expectDeletion('owner', cache, objectAt('8'));
    assert.equal(expectations.outstanding('owner') === undefined, isSeen);
  });
}

const ends = [
  {
    name: 'an object that ended is outstanding while the cache has it, though on its way out',
    shown: objectAt('9', { deletionTimestamp: 'now' }),
    isSeen: false,
  },
  { name: 'an object that ended and is gone has been seen', shown: undefined, isSeen: true },
  { name: 'another of its name is not the object that ended', shown: objectAt('9', { uid: 'two' }), isSeen: true },
];
for (const { name, shown, isSeen } of ends) {
  test(name, () => {
    const cache = witness();
    cache.show(shown, '9');
    const expectations = createExpectations(virtualClock());
    expectations.expectEnd('owner', cache, objectAt('8'));
    assert.equal(expectations.outstanding('owner') === undefined, isSeen);
  });
}

test('owners wait for their own writes only, and not for ever', () => {
  const clock = virtualClock();
  const cache = witness();
  const expectations = createExpectations(clock, { timeoutMs: 1000 });
  expectations.expectVersion('owner', cache, objectAt('10'));
  assert.equal(expectations.outstanding('other'), undefined);
  clock.advance(999);
  assert.equal(expectations.outstanding('owner')?.isOverdue, false);
  clock.advance(1);
  assert.deepEqual(expectations.outstanding('owner'), { count: 1, waitedMs: 1000, isOverdue: true });
  expectations.forget('owner');
  assert.equal(expectations.outstanding('owner'), undefined);
});

test('what is in doubt is asked for, and is to be seen as it was found', async () => {
  const cache = { ...witness(), ask: async () => objectAt('12') };
  const expectations = createExpectations(virtualClock());
  expectations.doubt('owner', cache, objectAt('10'));
  await expectations.settle('owner');
  assert.equal(expectations.outstanding('owner')?.count, 1);
  cache.show(objectAt('12'), '12');
  assert.equal(expectations.outstanding('owner'), undefined);
  assert.equal(expectations.settle('owner'), undefined);
});

test('what is in doubt and not found is to be seen as gone', async () => {
  const cache = { ...witness(), ask: async () => undefined };
  cache.show(objectAt('10'), '10');
  const expectations = createExpectations(virtualClock());
  expectations.doubt('owner', cache, objectAt('10'));
  await expectations.settle('owner');
  assert.equal(expectations.outstanding('owner')?.count, 1);
  cache.show(undefined, '12');
  assert.equal(expectations.outstanding('owner'), undefined);
});

test('what is in doubt, was never made and is nowhere is not waited for', async () => {
  const cache = { ...witness(), ask: async () => undefined };
  const expectations = createExpectations(virtualClock());
  expectations.doubt('owner', cache, objectAt('', { uid: undefined, resourceVersion: undefined }));
  await expectations.settle('owner');
  assert.equal(expectations.outstanding('owner'), undefined);
});

test('a server that does not answer is asked once, and leaves everything in doubt', async () => {
  let asked = 0;
  const cache = {
    ...witness(),
    ask: async () => {
      if (asked++ === 0) throw new Error('no answer');
      return undefined;
    },
  };
  const expectations = createExpectations(virtualClock());
  for (const name of ['a', 'b']) expectations.doubt('owner', cache, objectAt('10', { name }));
  await assert.rejects(expectations.settle('owner')!, /no answer/);
  assert.equal(asked, 1);
  await expectations.settle('owner');
  assert.equal(asked, 3);
});
