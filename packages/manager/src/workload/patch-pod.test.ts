import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { mergePatches, patchPod } from './patch-pod.ts';
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

test('labels are merged into the preceding status patch, at its resourceVersion', () => {
  assert.deepEqual(mergePatches([readiness, label, label]), [
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
  { name: 'a patch beyond metadata is written separately', patches: [readiness, image] },
  { name: 'labels that come first are written first', patches: [label, readiness] },
  { name: 'a single patch is unchanged', patches: [label] },
  { name: 'no patches stay no patches', patches: [] },
];
for (const { name, patches } of apart) {
  test(name, () => assert.deepEqual(mergePatches(patches), patches));
}
