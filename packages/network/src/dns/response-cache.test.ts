import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerFlag, internetClass, noRecords, type ResourceRecord, recordType } from './message.ts';
import { type CachedResponse, createResponseCache } from './response-cache.ts';

const address = (ttl: number): ResourceRecord => ({
  name: ['a', 'test'],
  type: recordType.A,
  class: internetClass,
  ttl,
  data: { kind: 'bytes', bytes: Uint8Array.from([192, 0, 2, 1]) },
});
const soa = (ttl: number, minimum: number): ResourceRecord => ({
  ...address(ttl),
  type: recordType.SOA,
  data: { kind: 'soa', primary: [], mailbox: [], serial: 1, refresh: 1, retry: 1, expire: 1, minimum },
});
const response = (fields: Partial<CachedResponse>): CachedResponse => ({
  ...noRecords,
  flags: headerFlag.response,
  sizeBytes: 500,
  ...fields,
});
const found = (ttl: number) => response({ answers: [address(ttl)] });

for (const [title, given, maxSeconds, expected] of [
  ['keeps a response for its time to live', found(20), 30, 20],
  ['keeps a response for at most the limit', found(300), 30, 30],
  ['keeps a response for at least five seconds', found(0), 30, 5],
  ['keeps a denial for the minimum of its SOA record', response({ flags: 3, authority: [soa(60, 10)] }), 30, 10],
  ['keeps the absence of a type', response({ authority: [soa(12, 60)] }), 30, 12],
  ['keeps a failure for five seconds', response({ flags: 2 }), 30, 5],
  ['does not keep a denial without SOA record', response({ flags: 3 }), 30, undefined],
  ['does not keep a truncated response', { ...found(20), flags: headerFlag.truncated }, 30, undefined],
  ['does not keep a refusal', response({ flags: 5 }), 30, undefined],
  ['keeps nothing if it is disabled', found(20), 0, undefined],
] as const) {
  test(`the cache ${title}`, () => {
    const cache = createResponseCache({ maxSeconds, staleSeconds: 0 });
    cache.store('key', given, 1000);
    assert.equal(cache.find('key', 1000)?.ttlSeconds, expected);
    if (expected === undefined) return;
    assert.equal(cache.find('key', 1000 + 1000 * expected - 1)?.ttlSeconds, 1);
    assert.equal(cache.find('key', 1000 + 1000 * expected), undefined);
  });
}

test('an expired response is served for the stale period', () => {
  const cache = createResponseCache({ maxSeconds: 30, staleSeconds: 60 });
  cache.store('key', found(10), 0);
  assert.deepEqual(cache.find('key', 30_000)?.isStale, true);
  assert.equal(cache.find('key', 30_000)?.ttlSeconds, 0);
  assert.equal(cache.find('key', 70_000), undefined);
});

test('a newer response replaces one of the other kind', () => {
  const cache = createResponseCache({ maxSeconds: 30, staleSeconds: 0 });
  cache.store('key', response({ flags: 3, authority: [soa(20, 20)] }), 0);
  cache.store('key', found(20), 0);
  assert.equal(cache.find('key', 0)?.kind, 'success');
  assert.deepEqual([cache.sizeOf('success'), cache.sizeOf('denial')], [1, 0]);
});

test('the least recently used responses are evicted, by number and by size', () => {
  const cache = createResponseCache({ maxSeconds: 30, staleSeconds: 0 });
  for (let index = 0; index < 10_000; index++) cache.store(String(index), found(20), 0);
  assert.ok(cache.find('0', 0));
  cache.store('one more', found(20), 0);
  assert.equal(cache.find('1', 0), undefined);
  assert.ok(cache.find('0', 0));
  assert.equal(cache.sizeOf('success'), 10_000);
  cache.store('huge', { ...found(20), sizeBytes: 31 * 1024 * 1024 }, 0);
  assert.ok(cache.sizeOf('success') < 3000);
  assert.ok(cache.evictions.success > 7000);
});
