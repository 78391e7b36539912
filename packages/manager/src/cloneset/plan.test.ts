import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet, CloneSetRollingUpdate, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import fc from 'fast-check';
import { featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';
import { cloneSetOf, now, podOf, revisionOf } from './fixtures.ts';
import { planRollout } from './plan.ts';
import { createSimulation, reconcileOnce, simulateKubelet } from './simulation.ts';

const settings = managerSettings({ gates: featureGates() });
const old = revisionOf('app:v1', 1);
const three = ['a', 'b', 'c'].map((name) => podOf({ name }));

function observe(spec: Partial<CloneSet['spec']>, pods: readonly Pod[] = three, annotations = {}): Observed {
  const cloneSet = cloneSetOf({ replicas: pods.length, ...spec });
  const status = { currentRevision: old.metadata.name, updateRevision: old.metadata.name } as CloneSetStatus;
  return {
    cloneSet: { ...cloneSet, metadata: { ...cloneSet.metadata, annotations }, status },
    pods,
    claims: [],
    revisions: [old],
    findRevision: () => undefined,
    nodeLabels: () => undefined,
    imagePullJobs: [],
    findBudget: () => undefined,
  };
}
const rolling = (rollingUpdate: CloneSetRollingUpdate) => ({ updateStrategy: { rollingUpdate } });
const inPlace = { podUpdatePolicy: 'InPlaceIfPossible' } as const;

/** Formats each wave as a line; created Pods have random names. */
function wavesOf(observed: Observed): readonly string[] {
  const { waves } = planRollout(observed, settings, now);
  return waves.map((wave) =>
    wave.map(({ pod, does }) => (/^web-/.test(pod) ? `${does} a new Pod` : `${does} ${pod}`)).join(', '),
  );
}

const plans: { name: string; observed: Observed; waves: readonly string[] }[] = [
  {
    name: 'updates one Pod after the other in place',
    observed: observe(rolling({ ...inPlace, maxUnavailable: 1 })),
    waves: ['update in place a', 'update in place b', 'update in place c'],
  },
  {
    name: 'respects the partition',
    observed: observe(rolling({ ...inPlace, maxUnavailable: 1, partition: 2 })),
    waves: ['update in place a'],
  },
  {
    name: 'updates all Pods at once',
    observed: observe(rolling({ ...inPlace, maxUnavailable: '100%' })),
    waves: ['update in place a, update in place b, update in place c'],
  },
  {
    name: 'marks, deletes and recreates Pods',
    observed: observe(rolling({ podUpdatePolicy: 'ReCreate', maxUnavailable: 1, partition: 2 })),
    waves: ['replace a, delete a, create a new Pod'],
  },
  {
    name: 'creates a surge Pod, and deletes an excess Pod',
    observed: observe(rolling({ ...inPlace, maxUnavailable: 1, maxSurge: 1, partition: 2 })),
    waves: ['create a new Pod, delete a'],
  },
  {
    name: 'creates no surge Pod where in-place updates come first',
    observed: observe(rolling({ ...inPlace, maxUnavailable: 1, maxSurge: 1, partition: 2 }), three, {
      'apps.kruise.io/in-place-before-surge': 'true',
    }),
    waves: ['update in place a'],
  },
  {
    name: 'has no steps while paused',
    observed: observe(rolling({ ...inPlace, paused: true })),
    waves: [],
  },
  {
    name: 'runs hooks first',
    observed: observe(
      {
        ...rolling({ ...inPlace, maxUnavailable: 1 }),
        lifecycle: { inPlaceUpdate: { labelsHandler: { drained: 'no' } } },
      },
      [podOf({ name: 'a', labels: { drained: 'no' } })],
    ),
    waves: ['ask the hook a', 'update in place a'],
  },
];
for (const { name, observed, waves } of plans) {
  test(`a rollout plan ${name}`, () => assert.deepEqual(wavesOf(observed), waves));
}

test('a rollout plan has the reason why a Pod is recreated', () => {
  const { cloneSet, ...rest } = observe(rolling({ ...inPlace, maxUnavailable: 1 }));
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'app:v1', workingDir: '/' }] },
  };
  const changed = { ...cloneSet, spec: { ...cloneSet.spec, template } };
  const { waves } = planRollout({ ...rest, cloneSet: changed }, settings, now);
  assert.deepEqual(waves[0]?.[0], { pod: 'a', does: 'replace', why: 'spec.containers.0.workingDir is added' });
});

const blocked: { name: string; observed: Observed; expected: readonly string[] }[] = [
  { name: 'nothing', observed: observe(rolling({ ...inPlace, maxUnavailable: 1 })), expected: [] },
  {
    name: 'a pause',
    observed: observe(rolling({ ...inPlace, paused: true })),
    expected: ['paused: a, b, c are not updated'],
  },
  {
    name: 'a partition',
    observed: observe(rolling({ partition: 3 })),
    expected: ['partition: a, b, c stay at their revision'],
  },
  {
    name: 'the OnDelete strategy',
    observed: observe({ updateStrategy: { type: 'OnDelete' } }),
    expected: ['OnDelete: a, b, c stay until they are deleted'],
  },
  {
    name: 'an unavailable Pod',
    observed: observe(rolling({ ...inPlace, maxUnavailable: 1 }), [three[0]!, podOf({ name: 'b', isReady: false })]),
    expected: ['b is not available: container main is not ready', 'no more than 1 Pods may be unavailable'],
  },
  {
    name: 'a hook',
    observed: observe(
      {
        ...rolling({ ...inPlace, maxUnavailable: 1 }),
        lifecycle: { inPlaceUpdate: { finalizersHandler: ['example.com/drain'] } },
      },
      [podOf({ name: 'a', state: 'PreparingUpdate', finalizers: ['example.com/drain'] })],
    ),
    expected: ['inPlaceUpdate hook blocks a'],
  },
];
for (const { name, observed, expected } of blocked) {
  test(`a rollout is blocked by ${name}`, () =>
    assert.deepEqual(planRollout(observed, settings, now).blockers, expected));
}

test('a rollout that exceeds its deadline records its blockers, once, and only with the annotation', () => {
  const late = {
    type: 'Progressing',
    status: 'True',
    reason: 'CloneSetUpdated',
    lastUpdateTime: '2026-01-01T11:00:00Z',
  } as const;
  const events = (annotations: object, condition: object = late) => {
    const spec = { ...rolling({ ...inPlace, maxUnavailable: 1 }), progressDeadlineSeconds: 60 };
    const { cloneSet, ...rest } = observe(spec, [podOf({ name: 'a', isReady: false, image: 'app:v2' })], annotations);
    const status = { ...cloneSet.status, conditions: [condition] } as CloneSetStatus;
    return decide({ ...rest, cloneSet: { ...cloneSet, status } }, settings, now).events;
  };
  const asked = { 'apps.kruise.io/report-rollout-blockers': 'true' };
  assert.deepEqual(
    events(asked)?.map(({ reason, message }) => `${reason}: ${message}`),
    ['RolloutStuck: a is not available: container main is not ready'],
  );
  assert.deepEqual(events({}), []);
  assert.deepEqual(events(asked, { ...late, status: 'False', reason: 'ProgressDeadlineExceeded' }), []);
});

test('with in-place updates before surge there is never an excess Pod, and every rollout finishes', () => {
  const limits = fc.record({
    maxUnavailable: fc.integer({ min: 1, max: 3 }),
    maxSurge: fc.nat(3),
    partition: fc.nat(5),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), limits, (replicas, asked) => {
      const pods = Array.from({ length: replicas }, (_, index) => podOf({ name: `pod-${index}` }));
      const before = observe(rolling({ ...inPlace, ...asked }), pods, {
        'apps.kruise.io/in-place-before-surge': 'true',
      });
      const world = createSimulation(before, now);
      for (let idle = 0, round = 0; idle < 3; round++) {
        assert.ok(round < 200, 'the rollout does not finish');
        idle = reconcileOnce(world, settings).length > 0 ? 0 : idle + 1;
        for (const name of world.pods.keys()) simulateKubelet(world, name);
        assert.deepEqual(
          [...world.pods.keys()],
          pods.map(({ metadata }) => metadata.name),
        );
      }
      const updated = [...world.pods.values()].filter(({ spec }) => spec?.containers[0]?.image === 'app:v2').length;
      assert.equal(updated, replicas - Math.min(asked.partition, replicas));
    }),
  );
});
