import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodReady } from '@kruise/machinery/pods';
import { makePod } from '../fixtures.ts';
import { startTestNode } from '../testing/test-node.ts';
import { selectVictims } from './preemption.ts';

type Qos = 'BestEffort' | 'Burstable' | 'Guaranteed';

function candidate(name: string, qosClass: Qos, cpu: number, priority = 0) {
  return { pod: makePod({ metadata: { name }, status: { qosClass }, priority }), requests: new Map([['cpu', cpu]]) };
}

const rows: readonly (readonly [
  name: string,
  missing: number,
  candidates: ReturnType<typeof candidate>[],
  victims: string,
])[] = [
  [
    'one sufficient Pod is the only victim',
    500,
    [candidate('a', 'Burstable', 300), candidate('b', 'Burstable', 600)],
    'b',
  ],
  [
    'the smallest sufficient Pod is the victim',
    500,
    [candidate('a', 'Burstable', 900), candidate('b', 'Burstable', 600)],
    'b',
  ],
  [
    'several Pods are victims if one is not enough',
    800,
    [candidate('a', 'Burstable', 500), candidate('b', 'Burstable', 400)],
    'a b',
  ],
  [
    'a Guaranteed Pod is no victim if others are enough',
    500,
    [candidate('a', 'Guaranteed', 500), candidate('b', 'Burstable', 500)],
    'b',
  ],
  [
    'a Guaranteed Pod is a victim if others are not enough',
    900,
    [candidate('a', 'Guaranteed', 500), candidate('b', 'Burstable', 500)],
    'b a',
  ],
  ['no Pod is preempted if that is not enough', 900, [candidate('a', 'Burstable', 500)], ''],
  ['a critical Pod is no victim', 500, [candidate('a', 'Burstable', 500, 2_000_000_000)], ''],
];
for (const [name, missing, candidates, victims] of rows) {
  test(name, () => {
    const found = selectVictims(new Map([['cpu', missing]]), candidates);
    assert.equal(found.map(({ pod }) => pod.metadata.name).join(' '), victims);
  });
}

test('a critical Pod preempts other Pods', async () => {
  await using node = await startTestNode({ kubelet: { staticPodPath: '/manifests' } });
  const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
  await node.create({ containers: [{ name: 'c', image: 'nginx:1.25', resources: { requests: { cpu: '3' } } }] });
  await node.waitUntil('web', isReady);
  await node.runtime.files.makeDirectory('/manifests');
  const manifest = {
    kind: 'Pod',
    metadata: { name: 'vital' },
    spec: { containers: [{ name: 'c', image: 'nginx:1.25', resources: { requests: { cpu: '2' } } }] },
  };
  await node.runtime.files.writeFile('/manifests/vital.yaml', JSON.stringify(manifest));
  await node.waitUntil('vital-node-1', isReady);
  const { status } = await node.get('web');
  assert.deepEqual(
    [status?.phase, status?.reason, status?.message],
    ['Failed', 'Preempting', 'Preempted in order to admit critical pod'],
  );
  assert.equal(findCondition(status?.conditions, 'DisruptionTarget')?.reason, 'TerminationByKubelet');
  assert.ok((await node.events('web')).includes('Warning Preempting: Preempted in order to admit critical pod'));
});
