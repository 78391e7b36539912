import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import { formatTime, instantOf } from '@kruise/values/time';
import { decide } from './controller.ts';

const now = instantOf(2026, 1, 1, 12);

function gated(metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web-1',
      namespace: 'default',
      uid: 'uid',
      resourceVersion: '7',
      creationTimestamp: formatTime(now),
      ...metadata,
    },
    spec: { containers: [], readinessGates: [{ conditionType: kruisePodReadyCondition }] },
  };
}

test('the gate of a Pod without an OpenKruise workload is opened at once', () => {
  const { actions, requeueAfterSeconds } = decide(gated(), now);
  assert.deepEqual(
    actions.map(({ type }) => type),
    ['patch'],
  );
  assert.match(JSON.stringify(actions), /"KruisePodReady".*"True"|"True".*"KruisePodReady"/);
  assert.equal(requeueAfterSeconds, undefined);
});

test('a terminating Pod is ignored', () => {
  assert.deepEqual(decide(gated({ deletionTimestamp: formatTime(now) }), now), { actions: [] });
});
