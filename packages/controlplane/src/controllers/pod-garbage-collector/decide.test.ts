import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { isForced, isStranded, lastStatus, surplusOf } from './decide.ts';

const now = instantOf(2026, 1, 1);
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };

type Facts = Partial<Pod['metadata']> & {
  readonly nodeName?: string;
  readonly phase?: string;
  readonly reason?: string;
};
const podOf = (name: string, { nodeName = '', phase = 'Running', reason = '', ...metadata }: Facts = {}) =>
  ({
    metadata: { name, ...metadata },
    spec: { nodeName, containers: [] },
    status: { phase, reason },
  }) as unknown as Pod;
const nodeOf = (ready: string, taint?: string) =>
  ({
    metadata: { name: 'n' },
    spec: { taints: taint ? [{ key: taint, effect: 'NoExecute' }] : [] },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }) as unknown as Node;
const outOfService = 'node.kubernetes.io/out-of-service';

const surpluses: readonly { name: string; pods: readonly Pod[]; threshold: number; removed: string }[] = [
  { name: 'keeps as many as the threshold', pods: [podOf('a'), podOf('b')], threshold: 2, removed: '' },
  {
    name: 'deletes the oldest',
    pods: [
      podOf('new', { creationTimestamp: '2026-01-02T00:00:00Z' }),
      podOf('old', { creationTimestamp: '2026-01-01T00:00:00Z' }),
    ],
    threshold: 1,
    removed: 'old',
  },
  {
    name: 'deletes evicted Pods before old ones',
    pods: [
      podOf('old', { phase: 'Failed', creationTimestamp: '2026-01-01T00:00:00Z' }),
      podOf('evicted', { phase: 'Failed', reason: 'Evicted', creationTimestamp: '2026-01-02T00:00:00Z' }),
    ],
    threshold: 1,
    removed: 'evicted',
  },
  {
    name: 'orders by name if everything else is equal',
    pods: [podOf('b'), podOf('a'), podOf('c')],
    threshold: 1,
    removed: 'a b',
  },
  { name: 'keeps all without a threshold', pods: [podOf('a'), podOf('b')], threshold: 0, removed: '' },
];
for (const { name, pods, threshold, removed } of surpluses) {
  test(name, () =>
    assert.equal(
      surplusOf(pods, threshold)
        .map(({ metadata }) => metadata.name)
        .join(' '),
      removed,
    ),
  );
}

const strandings: readonly { name: string; pod: Pod; node?: Node; is: boolean }[] = [
  { name: 'terminating and unscheduled', pod: podOf('a', deleted), is: true },
  { name: 'unscheduled', pod: podOf('a'), is: false },
  {
    name: 'terminating, on a healthy node',
    pod: podOf('a', { nodeName: 'n', ...deleted }),
    node: nodeOf('True'),
    is: false,
  },
  {
    name: 'terminating, on an unready node',
    pod: podOf('a', { nodeName: 'n', ...deleted }),
    node: nodeOf('Unknown'),
    is: false,
  },
  {
    name: 'terminating, on an out-of-service node',
    pod: podOf('a', { nodeName: 'n', ...deleted }),
    node: nodeOf('Unknown', outOfService),
    is: true,
  },
  {
    name: 'terminating, on a ready node with the out-of-service taint',
    pod: podOf('a', { nodeName: 'n', ...deleted }),
    node: nodeOf('True', outOfService),
    is: false,
  },
  {
    name: 'on an out-of-service node',
    pod: podOf('a', { nodeName: 'n' }),
    node: nodeOf('False', outOfService),
    is: false,
  },
  { name: 'terminating, on a missing node', pod: podOf('a', { nodeName: 'n', ...deleted }), is: false },
];
for (const { name, pod, node, is } of strandings) {
  test(`a Pod that is ${name} is ${is ? '' : 'not '}stranded`, () => assert.equal(isStranded(pod, node), is));
}

test('a running Pod is marked as failed when it is deleted, with a condition if its node is gone', () => {
  assert.deepEqual(lastStatus(podOf('a'), 'stranded', now), { phase: 'Failed' });
  assert.deepEqual(lastStatus(podOf('a'), 'orphaned', now), {
    phase: 'Failed',
    conditions: [
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  });
  assert.equal(lastStatus(podOf('a', { phase: 'Succeeded' }), 'orphaned', now), undefined);
});

test('a Pod that finalizers hold is not force-deleted twice', () => {
  const forced = { ...deleted, deletionGracePeriodSeconds: 0, phase: 'Failed' };
  assert.ok(isForced(podOf('a', forced)));
  assert.ok(!isForced(podOf('a', { ...forced, phase: 'Running' })));
  assert.ok(!isForced(podOf('a', { ...forced, deletionGracePeriodSeconds: 30 })));
  assert.ok(!isForced(podOf('a', { phase: 'Failed' })));
});

test('the threshold holds, evicted Pods are deleted before others, and each Pod is deleted once', () => {
  const shape = fc.record({ evicted: fc.boolean(), day: fc.integer({ min: 10, max: 28 }) });
  fc.assert(
    fc.property(fc.array(shape, { maxLength: 20 }), fc.integer({ min: 1, max: 20 }), (shapes, threshold) => {
      const ended = shapes.map(({ evicted, day }, index) =>
        podOf(`p${index}`, {
          phase: 'Failed',
          creationTimestamp: `2026-01-${day}T00:00:00Z`,
          ...(evicted ? { reason: 'Evicted' } : {}),
        }),
      );
      const removed = new Set(surplusOf(ended, threshold));
      const kept = ended.filter((pod) => !removed.has(pod));
      assert.equal(kept.length, Math.min(ended.length, threshold));
      assert.deepEqual(surplusOf(kept, threshold), []);
      const isEvicted = ({ status }: Pod) => status?.reason === 'Evicted';
      if (kept.some(isEvicted)) assert.ok([...removed].every(isEvicted));
    }),
  );
});
