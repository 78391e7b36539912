import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { patchPod, together } from './patch-pod.ts';
import { writeConditions } from './readiness/pod-readiness.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', uid: 'one', resourceVersion: '7', labels: { state: 'Updating' } },
  spec: { containers: [{ name: 'main', image: 'app:v1' }] },
};
const condition = { type: 'InPlaceUpdateReady', status: 'True' } as const;
const readiness = writeConditions(pod, [condition], { atVersion: true });
const label = patchPod(pod, { ...pod, metadata: { ...pod.metadata, labels: { state: 'Normal' } } });
const image = patchPod(pod, { ...pod, spec: { containers: [{ name: 'main', image: 'app:v2' }] } });

test('labels go with the status that is written before them, at the version it is written at', () => {
  assert.deepEqual(together([readiness, label, label]), [
    {
      ...readiness,
      patch: {
        metadata: { labels: { state: 'Normal' }, resourceVersion: '7' },
        status: { conditions: [{ reason: null, message: null, ...condition }] },
      },
    },
  ]);
});

const apart = [
  { name: 'what is not of the metadata is written by itself', patches: [readiness, image] },
  { name: 'labels that come first are written first', patches: [label, readiness] },
  { name: 'a single write stays as it is', patches: [label] },
  { name: 'nothing stays nothing', patches: [] },
];
for (const { name, patches } of apart) {
  test(name, () => assert.deepEqual(together(patches), patches));
}
