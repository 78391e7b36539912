import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expired, invalid, tooLargeResourceVersion, tooManyRequests, unclassified } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { ConnectError, TransportError } from './http/transport-error.ts';
import {
  afterEnd,
  afterFailure,
  afterState,
  delayMs,
  GarbageError,
  initialState,
  listRequest,
  type ReflectorState,
  SilenceError,
  watchRequest,
} from './reflector-state.ts';

const fresh = initialState({ stream: false });
const listed = afterState(fresh, '7');
const relisting = afterFailure(listed, expired('too old'));

const lists: { name: string; state: ReflectorState; request: object }[] = [
  { name: 'the first list may come from a cache', state: fresh, request: { resourceVersion: '0', limit: 500 } },
  {
    name: 'the first list is the newest state if that is asked for',
    state: initialState({ newest: true }),
    request: { resourceVersion: '', limit: 500 },
  },
  {
    name: 'a later list is no older than what was seen, and is asked for whole',
    state: relisting,
    request: { resourceVersion: '7', resourceVersionMatch: 'NotOlderThan' },
  },
  {
    name: 'a version the server has not reached is given up',
    state: afterFailure(relisting, tooLargeResourceVersion(7, 3)),
    request: { resourceVersion: '', limit: 500 },
  },
  {
    name: 'a list whose pages expire is asked for whole',
    state: afterFailure(fresh, expired('the token is too old')),
    request: { resourceVersion: '' },
  },
];
for (const { name, state, request } of lists) {
  test(name, () => assert.deepEqual(listRequest(state, 500), request));
}

const nexts: { name: string; state: ReflectorState; error: unknown; next: ReflectorState['next'] }[] = [
  { name: 'a watch that expired needs a list', state: listed, error: expired('too old'), next: 'list' },
  {
    name: 'a watch ahead of its server needs a list',
    state: listed,
    error: tooLargeResourceVersion(7, 3),
    next: 'list',
  },
  { name: 'garbage needs a list', state: listed, error: new GarbageError('?'), next: 'list' },
  { name: 'a broken connection goes on', state: listed, error: new Error('reset'), next: 'watch' },
  { name: 'a silent connection goes on', state: listed, error: new SilenceError('…'), next: 'watch' },
  { name: 'a refusal for now goes on', state: listed, error: tooManyRequests('later', 1), next: 'watch' },
  {
    name: 'a server that cannot stream is asked for a list',
    state: initialState({ stream: true }),
    error: invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', []),
    next: 'list',
  },
  {
    name: 'a stream that never completes is replaced by a list',
    state: initialState({ stream: true }),
    error: new SilenceError('…'),
    next: 'list',
  },
  {
    name: 'a stream that breaks is tried again',
    state: initialState({ stream: true }),
    error: new Error('reset'),
    next: 'stream',
  },
];
for (const { name, state, error, next } of nexts) {
  test(name, () => assert.equal(afterFailure(state, error).next, next));
}

test('a watch that breaks at the same place again and again needs a list, one that cannot be opened does not', () => {
  const after = (times: number, error: unknown) =>
    Array.from({ length: times }).reduce<ReflectorState>((state) => afterFailure(state, error), listed).next;
  const broken = new TransportError('what is no event', { wasSent: true });
  assert.deepEqual([after(4, broken), after(5, broken)], ['watch', 'list']);
  assert.equal(after(50, new ConnectError('refused')), 'watch');
});

test('a watch goes on from the last version', () => {
  assert.deepEqual(watchRequest(listed, 300), { resourceVersion: '7', allowWatchBookmarks: true, timeoutSeconds: 300 });
});

test('the delay doubles from under a second to under a minute', () => {
  const random = seededRandom(1);
  let state = listed;
  for (let failures = 1; failures < 40; failures++) {
    state = afterFailure(state, unclassified('no'));
    const baseMs = Math.min(30_000, 800 * 2 ** (failures - 1));
    const waitMs = delayMs(state, unclassified('no'), random);
    assert.ok(waitMs >= baseMs && waitMs <= 2 * baseMs, `${waitMs} after ${failures}`);
  }
});

test('a server that says how long to wait is obeyed', () => {
  const error = tooManyRequests('later', 90);
  assert.equal(delayMs(afterFailure(listed, error), error, seededRandom(1)), 90_000);
});

test('a watch that ends in due course is followed by another at once; one that ends at once is not', () => {
  const random = seededRandom(1);
  assert.equal(delayMs(afterEnd(listed, { wasFruitful: true }), undefined, random), 0);
  assert.ok(delayMs(afterEnd(listed, { wasFruitful: false }), undefined, random) >= 800);
});

test('a watch that falls silent is followed by another at once, however often', () => {
  const silence = new SilenceError('…');
  let state = listed;
  for (let times = 0; times < 10; times++) state = afterFailure(state, silence);
  assert.equal(delayMs(state, silence, seededRandom(1)), 0);
});
