/** Whole rollouts, decided step by step in a world where kubelets do as they like: budgets are kept, and all ends well. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSetRollingUpdate, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import { inPlaceUpdateReadyCondition, specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import fc from 'fast-check';
import { allFeatureGates, featureGates } from '../../feature-gates.ts';
import { managerSettings } from '../../settings.ts';
import { cloneSetOf, now, podOf, revisionOf } from './fixtures.ts';
import { act, tend, type World, worldOf } from './rehearsal.ts';

const settings = managerSettings({
  gates: featureGates({ ...allFeatureGates, PreDownloadImageForInPlaceUpdate: false }),
});

function rolloutOf(replicas: number, rolling: CloneSetRollingUpdate): World {
  const old = revisionOf('app:v1', 1);
  const names = Array.from({ length: replicas }, (_, index) => `pod-${index}`);
  const cloneSet = cloneSetOf({ replicas, updateStrategy: { rollingUpdate: rolling } });
  const status = { currentRevision: old.metadata.name, updateRevision: old.metadata.name } as CloneSetStatus;
  const observed = {
    cloneSet: { ...cloneSet, status },
    pods: names.map((name) => podOf({ name })),
    claims: [],
    revisions: [old],
    revisionNamed: () => undefined,
    nodeLabels: () => undefined,
    imagePullJobs: [],
    budgetNamed: () => undefined,
  };
  return worldOf(observed, now);
}

/** Returns how many things were done. */
const step = (world: World) => act(world, settings).length;

function markOne({ pods }: World, which: number): void {
  const [name = '', pod] = [...pods][which % pods.size] ?? [];
  if (!pod) return;
  const { labels, ...metadata } = pod.metadata;
  pods.set(name, { ...pod, metadata: { ...metadata, labels: { ...labels, [specifiedDeleteLabel]: 'true' } } });
}

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
    /** Which Pods somebody wants deleted, by number, and before which round. */
    marks: fc.array(fc.record({ round: fc.nat(9), which: fc.nat(9) }), { maxLength: 4 }),
    /** Which Pods' kubelets come next, by number. */
    order: fc.array(fc.nat(9), { minLength: 10, maxLength: 40 }),
  })
  .filter(({ maxUnavailable, maxSurge }) => maxUnavailable > 0 || maxSurge > 0);

test('an update keeps its budget at every step, and ends with as many new Pods as the partition leaves', () => {
  fc.assert(
    fc.property(plan, ({ replicas, marks, order, ...rolling }) => {
      const { partition, maxUnavailable, maxSurge } = rolling;
      const world = rolloutOf(replicas, rolling);
      const check = () => {
        const available = [...world.pods.values()].filter(isReady).length;
        assert.ok(
          available >= replicas - maxUnavailable,
          `${available} of ${replicas} available, ${maxUnavailable} may be missing`,
        );
        assert.ok(
          world.pods.size <= replicas + maxSurge,
          `${world.pods.size} Pods of ${replicas}, ${maxSurge} more allowed`,
        );
      };
      let turn = 0;
      let idle = 0;
      for (let round = 0; idle < 3; round++) {
        assert.ok(round < 400, 'it does not come to an end');
        for (const { which } of marks.filter((mark) => mark.round === round)) markOne(world, which);
        const did = step(world);
        check();
        const names = [...world.pods.keys()];
        if (did > 0) {
          tend(world, names[(order[turn++ % order.length] ?? 0) % names.length] ?? '');
          idle = 0;
        } else {
          for (const name of names) tend(world, name);
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

test('a new CloneSet comes up, and then has nothing more to do', () => {
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
        assert.ok(round < 200, 'it does not come to an end');
        const unready = [...world.pods.values()].filter((pod) => !isReady(pod)).length;
        assert.ok(scaleMax === null || unready <= scaleMax);
        const did = step(world);
        idle = did === 0 ? idle + 1 : 0;
        if (did === 0) for (const name of world.pods.keys()) tend(world, name);
      }
      assert.equal(world.pods.size, replicas);
    }),
  );
});
