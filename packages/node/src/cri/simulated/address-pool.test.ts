import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddressPool } from './address-pool.ts';

test('addresses are allocated in order without the bridge’s', () => {
  const pool = createAddressPool('10.244.3.0/24');
  assert.deepEqual([pool.allocate(), pool.allocate()], ['10.244.3.2', '10.244.3.3']);
});

test('a released address is reused after all others', () => {
  const pool = createAddressPool('10.0.0.0/29');
  const all = Array.from({ length: 5 }, () => pool.allocate());
  assert.deepEqual(all, ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
  assert.equal(pool.allocate(), undefined);
  pool.release('10.0.0.4');
  pool.release('10.0.0.3');
  assert.equal(pool.allocate(), '10.0.0.3');
});

test('IPv6 blocks are supported', () => {
  assert.equal(createAddressPool('fd00:10::/64').allocate(), 'fd00:10::2');
});
