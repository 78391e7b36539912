import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import fc from 'fast-check';
import { makePod } from '../fixtures.ts';
import {
  hasTerminated,
  initialLifecycle,
  isActive,
  isFinished,
  type LifecycleEvent,
  type PodLifecycle,
  type PodStage,
  transition,
  workOf,
} from './pod-lifecycle.ts';

const stages: readonly PodStage[] = ['starting', 'syncing', 'terminating', 'terminated', 'finished', 'gone'];
const at = (stage: PodStage, more: Partial<PodLifecycle> = {}): PodLifecycle => ({
  ...initialLifecycle,
  stage,
  ...(stage === 'terminating' ? { graceSeconds: 20 } : {}),
  ...more,
});

const pod = makePod({ metadata: { generation: 1 }, terminationGracePeriodSeconds: 30 });
const deleted = (graceSeconds?: number): Pod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    deletionTimestamp: '2026-01-01T00:00:00Z',
    ...(graceSeconds === undefined ? {} : { deletionGracePeriodSeconds: graceSeconds }),
  },
});
const updated = (after: Pod, more: { readonly before?: Pod; readonly hasStatus?: boolean } = {}): LifecycleEvent => ({
  type: 'updated',
  before: more.before ?? pod,
  after,
  hasStatus: more.hasStatus ?? true,
});
const killed = (graceSeconds?: number, more: { readonly hasVerdict?: boolean } = {}): LifecycleEvent => ({
  type: 'killed',
  pod,
  graceSeconds,
  hasVerdict: more.hasVerdict ?? false,
});
const withStatus = (status: NonNullable<Pod['status']>): Pod => ({ ...pod, status });
const withGeneration = (generation: number): Pod => ({ ...pod, metadata: { ...pod.metadata, generation } });
const labelled = (from: Pod): Pod => ({ ...from, metadata: { ...from.metadata, labels: { app: 'web' } } });
const withDownwardVolume = makePod({
  metadata: { generation: 1 },
  volumes: [{ name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } }],
});
const foreign = withStatus({ conditions: [{ type: 'example.com/gate', status: 'True' }] });
const own = withStatus({ conditions: [{ type: 'Ready', status: 'True' }] });

/** Short form of a state: `terminating 30s`, `finished, removed`. */
const describe = ({ stage, graceSeconds, isRemoved }: PodLifecycle) =>
  `${stage}${stage === 'terminating' ? ` ${graceSeconds}s` : ''}${isRemoved ? ', removed' : ''}`;

const restart = ['abortSync', 'requestSync'];
const cases: readonly (readonly [string, PodLifecycle, LifecycleEvent, string, readonly string[]])[] = [
  ['the first sync prepares probes', at('starting'), { type: 'syncStarted' }, 'syncing', ['prepareSync']],
  ['a later sync prepares nothing', at('syncing'), { type: 'syncStarted' }, 'syncing', []],
  ['a rejected Pod never starts', at('starting'), { type: 'rejected' }, 'finished', ['reportStatus']],

  ['an admitted Pod is synced', at('starting'), updated(pod), 'starting', ['requestSync']],
  ['an unchanged Pod is not synced', at('syncing'), updated(pod), 'syncing', []],
  ['a new generation is synced', at('syncing'), updated(withGeneration(2)), 'syncing', ['requestSync']],
  ['labels do not require a sync', at('syncing'), updated(labelled(pod)), 'syncing', []],
  [
    'labels in a downward API volume require a sync',
    at('syncing'),
    updated(labelled(withDownwardVolume), { before: withDownwardVolume }),
    'syncing',
    ['requestSync'],
  ],
  ['own conditions change nothing', at('syncing'), updated(own), 'syncing', []],
  ['conditions of others refresh the status', at('syncing'), updated(foreign), 'syncing', ['refreshStatus']],
  ['no status is refreshed before the first', at('syncing'), updated(foreign, { hasStatus: false }), 'syncing', []],
  ['a terminating Pod ignores a new generation', at('terminating'), updated(withGeneration(2)), 'terminating 20s', []],
  [
    'a terminal phase in the API terminates',
    at('syncing'),
    updated(withStatus({ phase: 'Failed' })),
    'terminating 30s',
    restart,
  ],
  [
    'a terminal phase ends a terminated Pod only once',
    at('finished'),
    updated(withStatus({ phase: 'Failed' })),
    'finished',
    [],
  ],

  ['a deleted Pod gets its grace period', at('syncing'), updated(deleted(10)), 'terminating 10s', restart],
  [
    'a deleted Pod without a grace period has that of its spec',
    at('syncing'),
    updated(deleted()),
    'terminating 30s',
    restart,
  ],
  ['a deletion before the first sync terminates', at('starting'), updated(deleted(10)), 'terminating 10s', restart],
  ['a shorter grace period restarts termination', at('terminating'), updated(deleted(5)), 'terminating 5s', restart],
  ['a longer grace period is ignored', at('terminating'), updated(deleted(60)), 'terminating 20s', []],
  ['a finished Pod that is deleted is synced', at('finished'), updated(deleted(5)), 'finished', ['requestSync']],

  ['a completed Pod has the grace period of its spec', at('syncing'), killed(), 'terminating 30s', restart],
  ['an eviction overrides the grace period', at('syncing'), killed(3), 'terminating 3s', restart],
  ['the grace period is never below a second', at('syncing'), killed(0), 'terminating 1s', restart],
  [
    'a verdict on a running Pod is reported later',
    at('syncing'),
    killed(1, { hasVerdict: true }),
    'terminating 1s',
    restart,
  ],
  [
    'a verdict on a terminated Pod is reported',
    at('terminated'),
    killed(1, { hasVerdict: true }),
    'terminated',
    ['reportStatus', 'requestSync'],
  ],

  [
    'a Pod removed by force terminates in a second',
    at('syncing'),
    { type: 'removed', pod },
    'terminating 1s, removed',
    restart,
  ],
  [
    'a removed Pod keeps its grace period',
    at('terminating'),
    { type: 'removed', pod: deleted(20) },
    'terminating 20s, removed',
    [],
  ],
  [
    'a force deletion shortens the grace period',
    at('terminating'),
    { type: 'removed', pod },
    'terminating 1s, removed',
    restart,
  ],
  [
    'a finished Pod that is removed is cleaned up',
    at('finished'),
    { type: 'removed', pod },
    'finished, removed',
    ['requestSync'],
  ],

  [
    'terminated containers free their resources',
    at('terminating'),
    { type: 'containersTerminated' },
    'terminated',
    ['freeAllocations', 'refreshStatus', 'requestSync'],
  ],
  [
    'a Pod without resources is finished',
    at('terminated'),
    { type: 'resourcesReleased' },
    'finished',
    ['refreshStatus', 'requestSync'],
  ],
  [
    'a cleaned up Pod is gone',
    at('finished', { isRemoved: true }),
    { type: 'cleanedUp' },
    'gone, removed',
    ['dropStatus'],
  ],
];
for (const [name, state, event, next, effects] of cases) {
  test(name, () => {
    const found = transition(state, event);
    assert.deepEqual({ next: describe(found.next), effects: found.effects }, { next, effects });
  });
}

test('each stage has its work', () => {
  assert.deepEqual(
    stages.map((stage) => workOf(at(stage))),
    ['syncPod', 'syncPod', 'syncTerminatingPod', 'syncTerminatedPod', 'none', 'none'],
  );
  assert.equal(workOf(at('finished', { isRemoved: true })), 'cleanUpPod');
});

test('a known Pod is active or has terminated', () => {
  assert.deepEqual(
    stages.map((stage) => isActive(at(stage))),
    [true, true, true, false, false, false],
  );
  assert.deepEqual(
    stages.map((stage) => hasTerminated(at(stage))),
    [false, false, false, true, true, false],
  );
  assert.deepEqual(
    stages.map((stage) => isFinished(at(stage))),
    [false, false, false, false, true, true],
  );
});

const graceSeconds = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined });
/** Events from outside, which come in any order. */
const outsideEvent: fc.Arbitrary<LifecycleEvent> = fc.oneof(
  graceSeconds.map((seconds) => updated(deleted(seconds))),
  fc.constantFrom(pod, withGeneration(2), foreign, withStatus({ phase: 'Failed' })).map((after) => updated(after)),
  fc.constantFrom(pod, deleted(10)).map((each): LifecycleEvent => ({ type: 'removed', pod: each })),
  fc.tuple(graceSeconds, fc.boolean()).map(([seconds, hasVerdict]) => killed(seconds, { hasVerdict })),
);
/** Returns the event that a completed sync dispatches. */
function syncedEvent(state: PodLifecycle): LifecycleEvent | undefined {
  switch (workOf(state)) {
    case 'syncPod':
      return { type: 'syncStarted' };
    case 'syncTerminatingPod':
      return { type: 'containersTerminated' };
    case 'syncTerminatedPod':
      return { type: 'resourcesReleased' };
    case 'cleanUpPod':
      return { type: 'cleanedUp' };
    case 'none':
      return undefined;
  }
}

test('a stage never goes back, the grace period never increases, and every change of work is synced', () => {
  fc.assert(
    fc.property(fc.array(fc.option(outsideEvent, { nil: 'sync' as const })), (steps) => {
      let state = initialLifecycle;
      for (const step of steps) {
        const event = step === 'sync' ? syncedEvent(state) : step;
        if (!event) continue;
        const { next, effects } = transition(state, event);
        assert.ok(stages.indexOf(next.stage) >= stages.indexOf(state.stage));
        assert.ok((next.graceSeconds ?? 1) <= (state.graceSeconds ?? Number.POSITIVE_INFINITY));
        assert.ok(!state.isRemoved || next.isRemoved);
        if (workOf(next) !== workOf(state) && workOf(next) !== 'none') assert.ok(effects.includes('requestSync'));
        state = next;
      }
    }),
  );
});

test('a removed Pod is gone after at most four syncs', () => {
  fc.assert(
    fc.property(fc.array(outsideEvent), (events) => {
      let state = initialLifecycle;
      for (const event of [...events, { type: 'removed', pod } as const]) state = transition(state, event).next;
      for (let count = 0; count < 4; count++) {
        const event = syncedEvent(state);
        if (event) state = transition(state, event).next;
      }
      assert.equal(state.stage, 'gone');
    }),
  );
});
