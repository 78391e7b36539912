import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { parseTime } from '@kruise/values/time';
import { isPodActive, isPodAvailable, isPodReady, readySince, secondsUntilAvailable } from './pods.ts';

const readyAt = '2026-01-01T00:00:00Z';
const since = parseTime(readyAt);

function podWith(status: NonNullable<Pod['status']>, metadata: Pod['metadata'] = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata, status } as Pod;
}
const ready = podWith({ conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: readyAt }] });

test('a Pod is active unless it is finished or terminating', () => {
  assert.equal(isPodActive(podWith({ phase: 'Running' })), true);
  assert.equal(isPodActive(podWith({ phase: 'Failed' })), false);
  assert.equal(isPodActive(podWith({ phase: 'Succeeded' })), false);
  assert.equal(isPodActive(podWith({ phase: 'Running' }, { deletionTimestamp: readyAt })), false);
});

test('a Pod is available once it has been ready for long enough', () => {
  assert.equal(isPodReady(ready), true);
  assert.equal(readySince(ready), since);
  assert.equal(isPodAvailable(ready, 0, since), true);
  assert.equal(isPodAvailable(ready, 10, since + 9_999), false);
  assert.equal(isPodAvailable(ready, 10, since + 10_000), true);
});

test('a Pod that was ready is not any more', () => {
  const unready = podWith({ conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: readyAt }] });
  assert.equal(readySince(unready), undefined);
  assert.equal(isPodAvailable(unready, 0, since + 1e9), false);
});

test('the next Pod to become available is waited for', () => {
  const later = podWith({
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' }],
  });
  const unready = podWith({ conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: readyAt }] });
  assert.equal(secondsUntilAvailable([later, ready, unready], 10, since + 4_000), 6);
  assert.equal(secondsUntilAvailable([later, ready, unready], 10, since + 10_000), 5);
  assert.equal(secondsUntilAvailable([later, ready, unready], 10, since + 15_000), undefined);
  assert.equal(secondsUntilAvailable([later, ready], 0, since), undefined);
  assert.equal(secondsUntilAvailable([], 10, since), undefined);
});
