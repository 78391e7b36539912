import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { virtualClock } from '@kruise/values/virtual-clock';
import fc from 'fast-check';
import { nodeOf, type PodTraits, podOf } from '../testing/fixtures.ts';
import { profileIn } from '../testing/schedule-result.ts';
import { backoffMs } from './backoff.ts';
import { createHeap } from './heap.ts';
import { createSchedulingQueue, defaultBackoff, type QueuedPod } from './scheduling-queue.ts';

function createQueue(aheadMs = () => 0) {
  const clock = virtualClock();
  const shown = { ...clock, now: () => clock.now() + aheadMs() };
  const profiles = new Map([['default-scheduler', profileIn()]]);
  const queue = createSchedulingQueue(shown, { profiles }, new AbortController().signal);
  const popped = () => queue.pop()?.pod.name;
  const reject = (queued: QueuedPod | undefined, ...plugins: readonly string[]) => {
    assert.ok(queued);
    queue.requeue(queued, queued.pod.pod, new Set(plugins));
  };
  return { clock, queue, popped, reject };
}

const fit = 'NodeResourcesFit';
const nodeAdded = { resource: 'Node', action: 'Add', after: nodeOf('n') } as const;
const labelled = {
  resource: 'Node',
  action: 'UpdateNodeLabel',
  before: nodeOf('n'),
  after: nodeOf('n', { labels: { a: 'b' } }),
} as const;

const waits = [0, 1000, 2000, 4000, 8000, 10_000, 10_000];
for (const [attempts, expected] of waits.entries()) {
  test(`after ${attempts} attempts the backoff is ${expected / 1000} s`, () => {
    assert.equal(backoffMs(attempts, defaultBackoff), expected);
  });
}

test('Pods are ordered by priority, then by time', () => {
  const { clock, queue, popped } = createQueue();
  queue.add(podOf('first', { priority: 1 }));
  clock.advance(10);
  queue.add(podOf('second', { priority: 1 }));
  queue.add(podOf('third', { priority: 1 }));
  queue.add(podOf('urgent', { priority: 5 }));
  assert.deepEqual(
    [popped(), popped(), popped(), popped(), popped()],
    ['urgent', 'first', 'second', 'third', undefined],
  );
});

test('a rejected Pod waits for an event that may help it', () => {
  const { clock, queue, popped, reject } = createQueue();
  queue.add(podOf('p', { requests: { cpu: '1' } }));
  reject(queue.pop(), fit);
  assert.equal(popped(), undefined);
  queue.move(labelled);
  assert.equal(popped(), undefined, 'a label update does not help');
  clock.advance(5000);
  queue.move(nodeAdded);
  assert.equal(popped(), 'p');
});

test('a Pod that an event may help waits for its backoff, unless the queue is idle', () => {
  const { clock, queue, popped, reject } = createQueue();
  queue.add(podOf('p'));
  reject(queue.pop(), fit);
  queue.move(nodeAdded);
  assert.deepEqual(queue.counts(), { active: 0, backoff: 1, unschedulable: 0, gated: 0 });
  queue.add(podOf('q'));
  assert.equal(popped(), 'q');
  assert.equal(popped(), 'p', 'the queue is idle');
  clock.advance(1);
});

test('a Pod whose attempt failed with an error always waits for its backoff', () => {
  const { clock, queue, popped, reject } = createQueue();
  queue.add(podOf('p'));
  reject(queue.pop());
  assert.equal(popped(), undefined);
  clock.advance(1999);
  assert.equal(popped(), undefined);
  clock.advance(1);
  assert.equal(popped(), 'p', 'times are compared by the second');
});

test('a backoff is not prolonged by a clock that is set back', () => {
  let aheadMs = 0;
  const { clock, queue, popped, reject } = createQueue(() => aheadMs);
  queue.add(podOf('p'));
  reject(queue.pop());
  aheadMs = -60_000;
  clock.advance(2000);
  assert.equal(popped(), 'p');
});

test('each attempt doubles the backoff, up to ten seconds', () => {
  const { clock, queue, reject } = createQueue();
  queue.add(podOf('p'));
  const waited: number[] = [];
  let queued = queue.pop();
  for (let attempt = 0; attempt < 6; attempt++) {
    reject(queued);
    const since = clock.now();
    while (!(queued = queue.pop())) assert.ok(clock.step());
    waited.push((clock.now() - since) / 1000);
  }
  assert.deepEqual(waited, [2, 3, 5, 9, 11, 11]);
});

test('a Pod without helpful events is retried after five minutes', () => {
  const { clock, queue, popped, reject } = createQueue();
  queue.add(podOf('p'));
  reject(queue.pop(), fit);
  clock.advance(300_000);
  assert.equal(popped(), undefined);
  clock.advance(30_000);
  assert.equal(popped(), 'p');
});

test('events during an attempt are not lost', () => {
  const { clock, queue, popped, reject } = createQueue();
  queue.add(podOf('p'));
  const queued = queue.pop();
  queue.move(nodeAdded);
  reject(queued, fit);
  clock.advance(2000);
  assert.equal(popped(), 'p');
});

const gated: PodTraits = { schedulingGates: [{ name: 'example.com/wait' }] };

test('a gated Pod is not attempted until its gates are removed', () => {
  const { clock, queue, popped } = createQueue();
  const before = podOf('p', gated);
  queue.add(before);
  assert.deepEqual(queue.counts(), { active: 0, backoff: 0, unschedulable: 0, gated: 1 });
  queue.move(nodeAdded);
  clock.advance(600_000);
  assert.equal(popped(), undefined);
  queue.update(before, podOf('p'));
  assert.equal(popped(), 'p');
});

test('an update of the Pod itself that may help requeues it', () => {
  const { clock, queue, popped, reject } = createQueue();
  const before = podOf('p');
  const tolerant = podOf('p', { tolerations: [{ operator: 'Exists' }] });
  queue.add(before);
  reject(queue.pop(), 'TaintToleration');
  queue.update(before, podOf('p', { metadata: { annotations: { a: 'b' } } }));
  assert.equal(popped(), undefined);
  clock.advance(3000);
  queue.update(before, tolerant);
  const queued = queue.pop();
  assert.deepEqual(queued?.pod.spec.tolerations, [{ operator: 'Exists' }]);
});

const asking = (cpu: string, more: PodTraits = {}) => podOf('p', { requests: { cpu }, ...more });
const spread: PodTraits = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ],
};
const ownChanges: readonly (readonly [name: string, plugin: string, before: Pod, after: Pod, isTried: boolean])[] = [
  ['a lower request', fit, asking('2'), asking('1'), true],
  ['a higher request', fit, asking('1'), asking('2'), false],
  ['another label', 'PodTopologySpread', asking('1', spread), asking('1', { ...spread, labels: { app: 'web' } }), true],
  ['an irrelevant label', fit, asking('1'), asking('1', { labels: { app: 'web' } }), false],
  ['an annotation', fit, asking('1'), asking('1', { metadata: { annotations: { a: 'b' } } }), false],
];
for (const [name, plugin, before, after, isTried] of ownChanges) {
  test(`${name} of a Pod rejected by ${plugin} ${isTried ? 'requeues it' : 'keeps it waiting'}`, () => {
    const { clock, queue, popped, reject } = createQueue();
    queue.add(before);
    reject(queue.pop(), plugin);
    clock.advance(3000);
    queue.update(before, after);
    assert.equal(popped(), isTried ? 'p' : undefined);
  });
}

test('an update of a queued Pod keeps its position', () => {
  const { clock, queue, popped } = createQueue();
  queue.add(podOf('first'));
  clock.advance(10);
  queue.add(podOf('second'));
  queue.update(podOf('first'), podOf('first', { labels: { a: 'b' } }));
  assert.deepEqual([popped(), popped()], ['first', 'second']);
});

test('a Pod that is updated during an attempt is queued once, and the update is not lost', () => {
  const { clock, queue, popped } = createQueue();
  const before = podOf('p');
  const after = podOf('p', { tolerations: [{ operator: 'Exists' }] });
  queue.add(before);
  const queued = queue.pop()!;
  queue.update(before, after);
  assert.equal(popped(), undefined);
  queue.requeue(queued, after, new Set(['TaintToleration']));
  clock.advance(2000);
  assert.equal(popped(), 'p');
  assert.equal(popped(), undefined);
});

test('a deleted Pod is not attempted', () => {
  const { clock, queue, popped, reject } = createQueue();
  for (const name of ['a', 'b', 'c']) queue.add(podOf(name));
  queue.delete('uid-of-a');
  reject(queue.pop(), fit);
  queue.delete('uid-of-b');
  reject(queue.pop());
  queue.delete('uid-of-c');
  queue.move(nodeAdded);
  clock.advance(600_000);
  assert.equal(popped(), undefined);
});

test('a Pod can be activated', () => {
  const { queue, popped, reject } = createQueue();
  queue.add(podOf('p'));
  reject(queue.pop());
  queue.activate('uid-of-p');
  assert.equal(popped(), 'p');
});

test('a waiting consumer is notified of a new Pod', async () => {
  const { queue, popped } = createQueue();
  assert.equal(popped(), undefined);
  const ready = queue.ready.then(() => popped());
  queue.add(podOf('p'));
  assert.equal(await ready, 'p');
});

const nominatedTo = (node: string): Pod => podOf('p', { status: { nominatedNodeName: node } });

test('the nominated node is known from the status, and from the nominator before the status is observed', () => {
  const { queue } = createQueue();
  const on = (name: string) => queue.nominator.onNode(name).map((pod) => pod.name);
  queue.add(nominatedTo('n'));
  assert.deepEqual(on('n'), ['p']);
  queue.update(nominatedTo('n'), nominatedTo('m'));
  assert.deepEqual([on('n'), on('m')], [[], ['p']]);
  queue.update(nominatedTo('m'), podOf('p'));
  assert.deepEqual(on('m'), []);
  const { nominator } = queue;
  nominator.set(queue.pop()!.pod, 'noted');
  queue.update(podOf('p'), podOf('p', { labels: { a: 'b' } }));
  assert.deepEqual(on('noted'), ['p']);
  queue.delete('uid-of-p');
  assert.deepEqual(on('noted'), []);
});

type Step = 'add' | 'delete' | 'reject' | 'fail' | 'node' | 'label' | 'wait' | 'update';
const arbitrarySteps = fc.array(
  fc.tuple(fc.constantFrom<Step>('add', 'delete', 'reject', 'fail', 'node', 'label', 'wait', 'update'), fc.nat(5)),
  { maxLength: 60 },
);

test('no Pod is lost: each is attempted again in time, once at a time', () => {
  fc.assert(
    fc.property(arbitrarySteps, (steps) => {
      const { clock, queue, reject } = createQueue();
      const live = new Set<string>();
      for (const [step, index] of steps) {
        const pod = podOf(`p${index}`, { priority: index % 3 });
        const { uid = '' } = pod.metadata;
        if (step === 'add' && !live.has(uid)) queue.add(pod);
        if (step === 'add') live.add(uid);
        if (step === 'delete') queue.delete(uid);
        if (step === 'delete') live.delete(uid);
        if (step === 'update' && live.has(uid))
          queue.update(pod, podOf(`p${index}`, { tolerations: [{ operator: 'Exists' }] }));
        if (step === 'node') queue.move(nodeAdded);
        if (step === 'label') queue.move(labelled);
        if (step === 'wait') clock.advance(index * 1000);
        const queued = step === 'reject' || step === 'fail' ? queue.pop() : undefined;
        if (queued) reject(queued, ...(step === 'fail' ? [] : [fit, 'TaintToleration']));
      }
      const tried: string[] = [];
      for (let minute = 0; minute < 7; minute++) {
        clock.advance(60_000);
        for (let queued = queue.pop(); queued; queued = queue.pop()) tried.push(queued.pod.uid);
      }
      assert.deepEqual(tried.sort(), [...live].sort());
    }),
  );
});

test('a heap returns its items in order, after any removals', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.boolean())), (values) => {
      const heap = createHeap<{ heapIndex: number; readonly value: number }>((a, b) => a.value < b.value);
      const items = values.map(([value]) => ({ heapIndex: -1, value }));
      for (const item of items) heap.push(item);
      const kept = items.filter((item, index) => {
        if (values[index]![1]) heap.remove(item);
        return !values[index]![1];
      });
      const order = Array.from({ length: heap.size }, () => heap.pop()!.value);
      assert.deepEqual(
        order,
        kept.map(({ value }) => value).sort((a, b) => a - b),
      );
      assert.equal(heap.pop(), undefined);
    }),
  );
});
