import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expired, invalid, tooLargeResourceVersion, tooManyRequests, unclassified } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { ConnectError, TransportError } from '../api/http/transport-error.ts';
import {
  afterEnd,
  afterFailure,
  afterList,
  delayMs,
  InvalidResponseError,
  initialState,
  listRequest,
  type ReflectorState,
  StalledError,
  watchRequest,
} from './reflector-state.ts';

const fresh = initialState({ watchList: false });
const listed = afterList(fresh, '7');
const relisting = afterFailure(listed, expired('too old'));

const lists: { name: string; state: ReflectorState; request: object }[] = [
  { name: 'the first list may come from a cache', state: fresh, request: { resourceVersion: '0', limit: 500 } },
  {
    name: 'the first list is the most recent state if requested',
    state: initialState({ newest: true }),
    request: { resourceVersion: '', limit: 500 },
  },
  {
    name: 'a later list is not older than the last version and is unpaged',
    state: relisting,
    request: { resourceVersion: '7', resourceVersionMatch: 'NotOlderThan' },
  },
  {
    name: 'a version that the server has not reached is dropped',
    state: afterFailure(relisting, tooLargeResourceVersion(7, 3)),
    request: { resourceVersion: '', limit: 500 },
  },
  {
    name: 'a list whose continue token expires is retried unpaged',
    state: afterFailure(fresh, expired('the token is too old')),
    request: { resourceVersion: '' },
  },
];
for (const { name, state, request } of lists) {
  test(name, () => assert.deepEqual(listRequest(state, 500), request));
}

const nexts: { name: string; state: ReflectorState; error: unknown; next: ReflectorState['next'] }[] = [
  { name: 'an expired watch requires a list', state: listed, error: expired('too old'), next: 'list' },
  {
    name: 'a watch ahead of its server requires a list',
    state: listed,
    error: tooLargeResourceVersion(7, 3),
    next: 'list',
  },
  { name: 'an invalid event requires a list', state: listed, error: new InvalidResponseError('?'), next: 'list' },
  { name: 'a broken connection resumes the watch', state: listed, error: new Error('reset'), next: 'watch' },
  { name: 'an idle connection resumes the watch', state: listed, error: new StalledError('…'), next: 'watch' },
  { name: 'a temporary error resumes the watch', state: listed, error: tooManyRequests('later', 1), next: 'watch' },
  {
    name: 'a server without WatchList is listed',
    state: initialState({ watchList: true }),
    error: invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', []),
    next: 'list',
  },
  {
    name: 'a WatchList that never completes is replaced by a list',
    state: initialState({ watchList: true }),
    error: new StalledError('…'),
    next: 'list',
  },
  {
    name: 'a WatchList that breaks is retried',
    state: initialState({ watchList: true }),
    error: new Error('reset'),
    next: 'stream',
  },
];
for (const { name, state, error, next } of nexts) {
  test(name, () => assert.equal(afterFailure(state, error).next, next));
}

test('a watch that repeatedly breaks at the same event requires a list; one that cannot connect does not', () => {
  const after = (times: number, error: unknown) =>
    Array.from({ length: times }).reduce<ReflectorState>((state) => afterFailure(state, error), listed).next;
  const broken = new TransportError('what is no event', { wasSent: true });
  assert.deepEqual([after(4, broken), after(5, broken)], ['watch', 'list']);
  assert.equal(after(50, new ConnectError('refused')), 'watch');
});

test('a watch resumes at the last version', () => {
  assert.deepEqual(watchRequest(listed, 300), { resourceVersion: '7', allowWatchBookmarks: true, timeoutSeconds: 300 });
});

test('the backoff doubles from below a second to below a minute', () => {
  const random = seededRandom(1);
  let state = listed;
  for (let failures = 1; failures < 40; failures++) {
    state = afterFailure(state, unclassified('no'));
    const baseMs = Math.min(30_000, 800 * 2 ** (failures - 1));
    const waitMs = delayMs(state, unclassified('no'), random);
    assert.ok(waitMs >= baseMs && waitMs <= 2 * baseMs, `${waitMs} after ${failures}`);
  }
});

test('a Retry-After of the server is respected', () => {
  const error = tooManyRequests('later', 90);
  assert.equal(delayMs(afterFailure(listed, error), error, seededRandom(1)), 90_000);
});

test('a watch that times out is followed by another immediately; a watch that ends at once is not', () => {
  const random = seededRandom(1);
  assert.equal(delayMs(afterEnd(listed, { madeProgress: true }), undefined, random), 0);
  assert.ok(delayMs(afterEnd(listed, { madeProgress: false }), undefined, random) >= 800);
});

test('an idle watch is followed by another immediately, however often', () => {
  const silence = new StalledError('…');
  let state = listed;
  for (let times = 0; times < 10; times++) state = afterFailure(state, silence);
  assert.equal(delayMs(state, silence, seededRandom(1)), 0);
});
