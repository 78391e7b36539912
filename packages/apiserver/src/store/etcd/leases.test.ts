import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createLeases } from './leases.ts';

function setUp() {
  const clock = virtualClock();
  const granted: number[] = [];
  const leases = createLeases(clock, async (ttlSeconds) => BigInt(granted.push(ttlSeconds)));
  return { clock, granted, leases };
}

test('keys with the same TTL share a lease for a minute, which lasts for all of them', async () => {
  const { clock, granted, leases } = setUp();
  assert.equal(await leases.leaseFor(3600), 1n);
  clock.advance(59_999);
  assert.equal(await leases.leaseFor(3600), 1n);
  clock.advance(1);
  assert.equal(await leases.leaseFor(3600), 2n);
  assert.deepEqual(granted, [3660, 3660]);
});

test('a key lives at most a twentieth longer than requested', async () => {
  const { clock, granted, leases } = setUp();
  await leases.leaseFor(100);
  clock.advance(5000);
  await leases.leaseFor(100);
  await leases.leaseFor(1);
  await leases.leaseFor(1);
  assert.deepEqual(granted, [105, 105, 1, 1]);
});

test('a lease is shared by a thousand keys at most', async () => {
  const { granted, leases } = setUp();
  for (let count = 0; count < 1001; count++) await leases.leaseFor(3600);
  assert.equal(granted.length, 2);
});

test('a failed or unknown lease is not reused', async () => {
  const clock = virtualClock();
  let grants = 0;
  const leases = createLeases(clock, async () => {
    if (++grants === 1) throw new Error('out of reach');
    return BigInt(grants);
  });
  await assert.rejects(leases.leaseFor(3600), /out of reach/);
  assert.equal(await leases.leaseFor(3600), 2n);
  leases.discard(2n);
  assert.equal(await leases.leaseFor(3600), 3n);
});
