import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { formatTime, parseTime } from '@kruise/values/time';
import fc from 'fast-check';
import { deletionCostAnnotation, deletionCostOf, rankByNode, rankForDeletion } from './pod-ranking.ts';

const now = parseTime('2026-01-10T00:00:00Z');
const ago = (seconds: number) => formatTime(now - seconds * 1000);

type Shape = {
  readonly node?: string;
  readonly phase?: string;
  readonly readyFor?: number | 'unknown';
  readonly age?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  readonly uid?: string;
};

function podOf(name: string, shape: Shape = {}): Pod {
  const { node = 'n', phase = 'Running', readyFor = 60, age = 120, cost, restarts = 0, sidecarRestarts = 0 } = shape;
  const readyAt = readyFor === 'unknown' ? {} : { lastTransitionTime: ago(readyFor) };
  const isReady = phase === 'Running' && readyFor !== 0;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: shape.uid ?? name,
      creationTimestamp: ago(age),
      ...(cost === undefined ? {} : { annotations: { [deletionCostAnnotation]: cost } }),
    },
    spec: {
      containers: [{ name: 'main' }],
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }, { name: 'setup' }],
      ...(node ? { nodeName: node } : {}),
    },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', ...readyAt }],
      containerStatuses: [{ name: 'main', restartCount: restarts }],
      initContainerStatuses: [
        { name: 'sidecar', restartCount: sidecarRestarts },
        { name: 'setup', restartCount: 9 },
      ],
    },
  } as unknown as Pod;
}

const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name).join(' ');

/** Each row: of two Pods the first is to go first, though all that comes after in the list of rules speaks against it. */
const cases: readonly { readonly name: string; readonly goes: Shape; readonly stays: Shape }[] = [
  { name: 'without a node before with one', goes: { node: '', cost: '9' }, stays: { phase: 'Pending' } },
  { name: 'Pending before Unknown', goes: { phase: 'Pending', cost: '9' }, stays: { phase: 'Unknown' } },
  { name: 'Unknown before Running', goes: { phase: 'Unknown', cost: '9' }, stays: { readyFor: 0 } },
  { name: 'not ready before ready', goes: { readyFor: 0, cost: '9' }, stays: {} },
  { name: 'at the lower cost first', goes: { cost: '-10', readyFor: 9000 }, stays: { readyFor: 1 } },
  { name: 'at no cost before at some', goes: { readyFor: 9000 }, stays: { cost: '1', readyFor: 1 } },
  { name: 'ready for an unknown time first', goes: { readyFor: 'unknown' }, stays: { readyFor: 1, restarts: 5 } },
  {
    name: 'ready for an hour before ready for a day',
    goes: { readyFor: 3600 },
    stays: { readyFor: 86400, restarts: 5 },
  },
  { name: 'ready for about as long by uid', goes: { uid: 'a', readyFor: 4000 }, stays: { uid: 'b', readyFor: 3000 } },
  { name: 'restarted more often first', goes: { restarts: 2, age: 9000 }, stays: { restarts: 1, age: 100 } },
  { name: 'with a restless sidecar first', goes: { sidecarRestarts: 2, age: 9000 }, stays: { age: 100 } },
  { name: 'an hour old before a day old', goes: { age: 3600 }, stays: { age: 86400 } },
  { name: 'about as old by uid', goes: { uid: 'a', age: 4000 }, stays: { uid: 'b', age: 3000 } },
];
for (const { name, goes, stays } of cases) {
  test(`spares Pods ${name}`, () => {
    const [going, staying] = [podOf('goes', goes), podOf('stays', stays)];
    assert.equal(names(rankForDeletion([staying, going], { now })), 'goes stays');
    assert.equal(names(rankForDeletion([going, staying], { now })), 'goes stays');
  });
}

test('compares times to the second where no scale is asked for', () => {
  const pods = [podOf('a', { readyFor: 61 }), podOf('b', { readyFor: 60 })];
  assert.equal(names(rankForDeletion(pods)), 'b a');
});

test('spares the Pod with more siblings on its node', () => {
  const pods = [podOf('alone', { node: 'a', readyFor: 1 }), podOf('one', { node: 'b' }), podOf('two', { node: 'b' })];
  assert.equal(names(rankForDeletion(pods, { now, rankOf: rankByNode(pods) })), 'one two alone');
});

test('deletes ready but unavailable Pods before available ones', () => {
  const pods = [podOf('old', { cost: '-1' }), podOf('new', { readyFor: 5 })];
  const isAvailable = ({ metadata }: Pod) => metadata.name === 'old';
  assert.equal(names(rankForDeletion(pods, { isAvailable })), 'new old');
});

test('leaves costs aside where they do not matter', () => {
  const pods = [podOf('cheap', { cost: '-1', readyFor: 9000 }), podOf('new', { readyFor: 5 })];
  assert.equal(names(rankForDeletion(pods, { usesDeletionCost: false })), 'new cheap');
});

for (const [text, cost] of [
  ['0', 0],
  ['7', 7],
  ['-7', -7],
  ['-007', -7],
  ['-0', 0],
  ['2147483647', 2147483647],
  ['-2147483648', -2147483648],
  ['2147483648', 0],
  ['-2147483649', 0],
  ['+7', 0],
  ['007', 0],
  ['', 0],
  ['-', 0],
  ['1e3', 0],
  [' 1', 0],
] as const) {
  test(`takes the deletion cost ${JSON.stringify(text)} for ${cost}`, () => {
    assert.equal(deletionCostOf(podOf('p', { cost: text })), cost);
  });
}

test('gives every Pod back, the least worth first', () => {
  const shape = fc.record({
    node: fc.constantFrom('', 'a', 'b'),
    phase: fc.constantFrom('Pending', 'Unknown', 'Running'),
    readyFor: fc.constantFrom(0, 1),
    cost: fc.constantFrom('-1', '0', '1'),
  });
  fc.assert(
    fc.property(fc.array(shape), (shapes) => {
      const pods = shapes.map((each, index) => podOf(`${index}`, each));
      const ranked = rankForDeletion(pods, { now });
      assert.equal(new Set(ranked).size, pods.length);
      const merits = ranked.map((pod) => {
        const { node, phase, readyFor, cost } = shapes[Number(pod.metadata.name)]!;
        const isReady = phase === 'Running' && readyFor > 0;
        return [node !== '', ['Pending', 'Unknown', 'Running'].indexOf(phase), isReady, Number(cost) + 1]
          .map(Number)
          .join('');
      });
      assert.deepEqual(merits, merits.toSorted());
    }),
  );
});
