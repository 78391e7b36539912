import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@kruise/machinery/status';
import { virtualClock } from '@kruise/values/virtual-clock';
import { beforeDeadline, requestTimeoutMs, timeoutOf } from './deadline.ts';

const cases: readonly [string, number][] = [
  ['', requestTimeoutMs],
  ['timeout=', requestTimeoutMs],
  ['timeout=0', requestTimeoutMs],
  ['timeout=34s', 34_000],
  ['timeout=2h', requestTimeoutMs],
  ['timeout=1500ms', 1500],
];
for (const [query, expected] of cases) {
  test(`"${query}" gives ${expected} ms`, () => assert.equal(timeoutOf(new URLSearchParams(query)), expected));
}

test('an invalid timeout is rejected', () => {
  assert.throws(
    () => timeoutOf(new URLSearchParams('timeout=soon')),
    (error) =>
      error instanceof StatusError &&
      error.code === 400 &&
      error.message === 'invalid timeout specified in the request URL - time: invalid duration "soon"',
  );
});

test('a request beyond its deadline is aborted and fails', async () => {
  const clock = virtualClock(0);
  let cancelled: unknown;
  const late = beforeDeadline(clock, 1000, { cancel: (reason) => (cancelled = reason) }, () => new Promise(() => {}));
  await Promise.all([
    assert.rejects(late, (error) => error instanceof StatusError && error.code === 504),
    clock.advance(1000),
  ]);
  assert.ok(cancelled instanceof StatusError);
});

test('a request that ends in time leaves no timer behind', async () => {
  const clock = virtualClock(0);
  let cancelled = false;
  const cancel = () => {
    cancelled = true;
  };
  await beforeDeadline(clock, 1000, { cancel }, async () => {});
  await clock.advance(2000);
  assert.equal(cancelled, false);
});
