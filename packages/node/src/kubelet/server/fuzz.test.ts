import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzKubelet } from './testing/fuzz.ts';

test('no mutated request fails, bypasses authorization, leaks memory or blocks the kubelet', async () => {
  const report = await fuzzKubelet({ count: 2000, seed: 'kubelet' });
  assert.deepEqual(report.failures, []);
  assert.deepEqual(report.breaches, []);
  assert.ok(report.growthBytes < 32 * 2 ** 20, `${report.growthBytes} bytes remained`);
  assert.ok(report.longestHoldMs < 100, `held up for ${report.longestHoldMs} ms`);
});
