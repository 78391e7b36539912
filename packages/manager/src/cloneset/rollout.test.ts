/** Property tests of whole rollouts with kubelets in random order: limits hold at every step, and rollouts finish. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet, CloneSetRollingUpdate, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import type { Lifecycle } from '@kruise/api/kruise/lifecycle';
import { inPlaceUpdateReadyCondition, specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import fc from 'fast-check';
import { allFeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { cloneSetOf, now, podOf, revisionOf, templateOf } from './fixtures.ts';
import { createSimulation, reconcileOnce, type Simulation, simulateKubelet } from './simulation.ts';

const settings = managerSettings({
  gates: featureGates({ ...allFeatureGates, PreDownloadImageForInPlaceUpdate: false }),
});

function rolloutOf(replicas: number, rolling: CloneSetRollingUpdate): Simulation {
  const old = revisionOf('app:v1', 1);
  const names = Array.from({ length: replicas }, (_, index) => `pod-${index}`);
  const cloneSet = cloneSetOf({ replicas, updateStrategy: { rollingUpdate: rolling } });
  const status = { currentRevision: old.metadata.name, updateRevision: old.metadata.name } as CloneSetStatus;
  const observed = {
    cloneSet: { ...cloneSet, status },
    pods: names.map((name) => podOf({ name })),
    claims: [],
    revisions: [old],
    findRevision: () => undefined,
    nodeLabels: () => undefined,
    imagePullJobs: [],
    findBudget: () => undefined,
  };
  return createSimulation(observed, now);
}

/** Returns the number of actions. */
const step = (world: Simulation) => reconcileOnce(world, settings).length;

const isReady = ({ status }: Pod) =>
  findCondition(status?.conditions, 'Ready')?.status === 'True' &&
  findCondition(status?.conditions, inPlaceUpdateReadyCondition)?.status === 'True';

const plan = fc
  .record({
    replicas: fc.integer({ min: 1, max: 6 }),
    partition: fc.nat(6),
    maxUnavailable: fc.nat(3),
    maxSurge: fc.nat(3),
    podUpdatePolicy: fc.constantFrom('ReCreate' as const, 'InPlaceIfPossible' as const),
    /** Order in which the kubelets of Pods act, by index. */
    order: fc.array(fc.nat(9), { minLength: 10, maxLength: 40 }),
  })
  .filter(({ maxUnavailable, maxSurge }) => maxUnavailable > 0 || maxSurge > 0);

test('an update respects its limits at every step, and ends with all Pods beyond the partition updated', () => {
  fc.assert(
    fc.property(plan, ({ replicas, order, ...rolling }) => {
      const { partition, maxUnavailable, maxSurge } = rolling;
      const world = rolloutOf(replicas, rolling);
      const check = () => {
        const available = [...world.pods.values()].filter(isReady).length;
        assert.ok(
          available >= replicas - maxUnavailable,
          `${available} of ${replicas} available, ${maxUnavailable} may be unavailable`,
        );
        assert.ok(
          world.pods.size <= replicas + maxSurge,
          `${world.pods.size} Pods of ${replicas}, ${maxSurge} more allowed`,
        );
      };
      let turn = 0;
      let idle = 0;
      for (let round = 0; idle < 3; round++) {
        assert.ok(round < 400, 'the rollout does not finish');
        const did = step(world);
        check();
        const names = [...world.pods.keys()];
        if (did > 0) {
          simulateKubelet(world, names[(order[turn++ % order.length] ?? 0) % names.length] ?? '');
          idle = 0;
        } else {
          for (const name of names) simulateKubelet(world, name);
          idle++;
        }
      }
      const pods = [...world.pods.values()];
      const updated = pods.filter(({ spec }) => spec?.containers[0]?.image === 'app:v2').length;
      assert.deepEqual([pods.length, updated], [replicas, replicas - Math.min(partition, replicas)]);
    }),
    { numRuns: 150 },
  );
});

test('a new CloneSet becomes available, and then needs no more actions', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 12 }), fc.option(fc.integer({ min: 1, max: 3 })), (replicas, scaleMax) => {
      const world = rolloutOf(0, {});
      world.cloneSet = {
        ...world.cloneSet,
        spec: {
          ...world.cloneSet.spec,
          replicas,
          ...(scaleMax ? { scaleStrategy: { maxUnavailable: scaleMax } } : {}),
        },
      };
      for (let idle = 0, round = 0; idle < 2; round++) {
        assert.ok(round < 200, 'the rollout does not finish');
        const unready = [...world.pods.values()].filter((pod) => !isReady(pod)).length;
        assert.ok(scaleMax === null || unready <= scaleMax);
        const did = step(world);
        idle = did === 0 ? idle + 1 : 0;
        if (did === 0) for (const name of world.pods.keys()) simulateKubelet(world, name);
      }
      assert.equal(world.pods.size, replicas);
    }),
  );
});

type UserAction = {
  readonly round: number;
  readonly does: 'mark' | 'kill' | 'scale' | 'update' | 'hold back';
  readonly by: number;
};

const userActions: fc.Arbitrary<readonly UserAction[]> = fc.array(
  fc.record({
    round: fc.nat(25),
    does: fc.constantFrom('mark', 'kill', 'scale', 'update', 'hold back'),
    by: fc.nat(6),
  }),
  { maxLength: 8 },
);

/** Applies a user's action during the rollout. */
function applyUserAction(world: Simulation, { does, by }: UserAction): void {
  const { cloneSet, pods } = world;
  const [name = '', pod] = [...pods][by % pods.size] ?? [];
  const change = (spec: Partial<CloneSet['spec']>) => {
    world.cloneSet = { ...cloneSet, spec: { ...cloneSet.spec, ...spec } };
  };
  if (does === 'scale') change({ replicas: by });
  else if (does === 'update') change({ template: hookedTemplate(`app:v${by}`) });
  else if (does === 'hold back')
    change({ updateStrategy: { rollingUpdate: { ...cloneSet.spec.updateStrategy?.rollingUpdate, partition: by } } });
  else if (does === 'kill') pods.delete(name);
  else if (pod) pods.set(name, { ...pod, metadata: { ...pod.metadata, labels: marked(pod) } });
}

const marked = ({ metadata }: Pod) => ({ ...metadata.labels, [specifiedDeleteLabel]: 'true' });

const hold = { 'example.com/hold': 'yes' };
const busy = { 'example.com/busy': 'yes' };
const hooks = fc.constantFrom<Lifecycle>(
  {},
  { preDelete: { labelsHandler: hold } },
  { inPlaceUpdate: { labelsHandler: busy } },
  { preDelete: { labelsHandler: hold }, inPlaceUpdate: { labelsHandler: busy, markPodNotReady: true } },
);

function hookedTemplate(image: string): CloneSet['spec']['template'] {
  const { metadata, ...template } = templateOf(image);
  return { ...template, metadata: { labels: { ...metadata?.labels, ...hold, ...busy } } };
}

test('with any concurrent user action, no Pod is disrupted beyond the limits, and the rollout finishes', () => {
  fc.assert(
    fc.property(plan, userActions, hooks, ({ replicas, order, ...rolling }, meanwhile, lifecycle) => {
      const world = rolloutOf(0, rolling);
      const spec = { ...world.cloneSet.spec, replicas, lifecycle, template: hookedTemplate('app:v1') };
      world.cloneSet = { ...world.cloneSet, spec };
      let turn = 0;
      for (let round = 0, idle = 0; idle < 3 || round <= 25; round++) {
        assert.ok(round < 400, 'the rollout does not finish');
        for (const userAction of meanwhile) if (userAction.round === round) applyUserAction(world, userAction);
        const least = (world.cloneSet.spec.replicas ?? 0) - rolling.maxUnavailable;
        const before = [...world.pods.keys()].filter((name) => isInService(world.pods.get(name)));
        const did = step(world);
        const left = before.filter((name) => isInService(world.pods.get(name))).length;
        assert.ok(left === before.length || left >= least, `${left} of ${before.length} are left, and ${least} needed`);
        const names = [...world.pods.keys()];
        const isTurn = (index: number) => did === 0 || index === (order[turn % order.length] ?? 0) % names.length;
        for (const name of names.filter((_, index) => isTurn(index))) simulateKubelet(world, name);
        idle = did === 0 ? idle + 1 : 0;
        turn++;
      }
      const { replicas: wanted = 0, updateStrategy, template } = world.cloneSet.spec;
      const pods = [...world.pods.values()];
      const updated = pods.filter((pod) => imageOf(pod) === imageOf(template)).length;
      assert.equal(pods.filter(isInService).length, wanted);
      assert.ok(updated >= wanted - Number(updateStrategy?.rollingUpdate?.partition));
    }),
    { numRuns: 150 },
  );
});

const imageOf = ({ spec }: Pick<Pod, 'spec'> | CloneSet['spec']['template']) => spec?.containers[0]?.image;

/** Reports whether a Pod serves traffic and is not being drained. */
function isInService(pod: Pod | undefined): boolean {
  const state = pod && lifecycleStateOf(pod);
  return pod !== undefined && isReady(pod) && (state === 'Normal' || state === 'PreparingNormal');
}
