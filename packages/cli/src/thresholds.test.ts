import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSoftThresholds, parseThresholds } from './thresholds.ts';

test('thresholds are quantities or percentages', () => {
  assert.deepEqual(parseThresholds('memory.available<100Mi,nodefs.available<10%'), [
    { signal: 'memory.available', value: '100Mi' },
    { signal: 'nodefs.available', value: '10%' },
  ]);
  assert.deepEqual(parseThresholds(''), []);
});

test('soft thresholds have grace periods', () => {
  assert.deepEqual(parseSoftThresholds('memory.available<300Mi', 'memory.available=1m30s'), [
    { signal: 'memory.available', value: '300Mi', patienceSeconds: 90 },
  ]);
  assert.throws(
    () => parseSoftThresholds('memory.available<300Mi', 'nodefs.available=1m'),
    /grace period must be specified for the soft eviction threshold memory\.available/,
  );
});

for (const text of ['memory.available', 'memory<1Gi', 'memory.available<much', 'memory.available>1Gi']) {
  test(`${text} is not a threshold`, () => assert.throws(() => parseThresholds(text), /invalid eviction threshold/));
}
