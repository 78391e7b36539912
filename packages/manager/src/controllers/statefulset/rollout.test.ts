/** Whole rollouts, decided step by step in a world where kubelets do as they like: budgets are kept, and all ends well. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { isPodReady } from '@kruise/machinery/pods';
import fc from 'fast-check';
import { allFeatureGates, featureGates } from '../../feature-gates.ts';
import { managerSettings } from '../../settings.ts';
import { carryOut, type Objects, objectsOf, put, run } from '../../testing/world.ts';
import { decide } from './decide.ts';
import { claimOf, now, podOf, setOf, templateOf, v1 } from './fixtures.ts';
import { maxUnavailableOf } from './numbers.ts';
import { wantedOrdinals } from './ordinals.ts';

const settings = managerSettings({
  gates: featureGates({ ...allFeatureGates, PreDownloadImageForInPlaceUpdate: false }),
});

type World = { set: StatefulSet; readonly objects: Objects; time: number };

const podsIn = ({ objects }: World) => objectsOf<Pod>(objects, 'Pod');

/** Decides and carries out; returns how many things were done. */
function step(world: World): number {
  const { set, objects } = world;
  world.time += 1000;
  const find =
    <T>(kind: string) =>
    (name: string) =>
      objects.get(`${kind}/${name}`) as T | undefined;
  const observed = {
    set,
    pods: podsIn(world),
    revisions: objectsOf<ControllerRevision>(objects, 'ControllerRevision'),
    findRevision: find<ControllerRevision>('ControllerRevision'),
    findClaim: find<PersistentVolumeClaim>('PersistentVolumeClaim'),
    findPod: find<Pod>('Pod'),
    findStorageClass: () => undefined,
    imagePullJobs: [],
  };
  const { actions, status } = decide(observed, settings, world.time);
  carryOut(objects, actions, world.time);
  const reported = typeof status === 'function' ? status({ failures: [], isStale: false, written: new Map() }) : status;
  if (reported) world.set = { ...set, status: reported };
  return actions.filter(({ type }) => type !== 'record').length;
}

const plan = fc
  .record({
    replicas: fc.integer({ min: 1, max: 6 }),
    partition: fc.nat(4),
    maxUnavailable: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant('50%')),
    podUpdatePolicy: fc.constantFrom('ReCreate' as const, 'InPlaceIfPossible' as const),
    podManagementPolicy: fc.constantFrom('OrderedReady' as const, 'Parallel' as const),
    isUnordered: fc.boolean(),
    reserved: fc.array(fc.nat(6), { maxLength: 3 }),
    start: fc.nat(2),
    scaleLimit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    hasClaims: fc.boolean(),
    /** Which Pods have it in themselves to become ready, step by step. */
    luck: fc.infiniteStream(fc.nat()),
  })
  .map(({ podManagementPolicy: policy, maxUnavailable, isUnordered, ...rest }) => ({
    ...rest,
    podManagementPolicy: policy,
    maxUnavailable: policy === 'Parallel' ? maxUnavailable : 1,
    isUnordered: policy === 'Parallel' && isUnordered,
  }));

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

function worldOf(drawn: Plan): World {
  const { replicas, reserved, start, podManagementPolicy, scaleLimit, hasClaims } = drawn;
  const { partition, maxUnavailable, podUpdatePolicy, isUnordered } = drawn;
  const rollingUpdate = { partition, maxUnavailable, podUpdatePolicy, ...(isUnordered ? { unorderedUpdate: {} } : {}) };
  const set = setOf({
    replicas,
    podManagementPolicy,
    reserveOrdinals: reserved,
    ordinals: { start },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
    ...(scaleLimit === undefined ? {} : { scaleStrategy: { maxUnavailable: scaleLimit } }),
    ...(hasClaims ? { volumeClaimTemplates: [claimOf('data')] } : {}),
  });
  const world = { set, objects: new Map(), time: now };
  put(world.objects, v1);
  for (const ordinal of wantedOrdinals(set, settings.gates)) {
    put(world.objects, podOf(ordinal, hasClaims ? { claims: ['data'] } : {}));
    if (hasClaims) put(world.objects, claimOf(`data-web-${ordinal}`));
  }
  const revision = v1.metadata.name ?? '';
  const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, currentReplicas: replicas };
  world.set = {
    ...set,
    status: { ...counts, updatedReplicas: 0, currentRevision: revision, updateRevision: revision },
  };
  return world;
}

function settle(world: World, luck: () => boolean, watch: () => void): boolean {
  for (let turn = 0; turn < 400; turn++) {
    const done = step(world);
    watch();
    let changed = 0;
    for (const pod of podsIn(world)) {
      const next = run(pod, world.time);
      if (JSON.stringify(next) === JSON.stringify(pod)) continue;
      changed++;
      if (luck()) put(world.objects, next);
    }
    if (done === 0 && changed === 0) return true;
  }
  return false;
}

test('an update keeps its budget at every step, and ends with as many Pods updated as the partition leaves', () => {
  fc.assert(
    fc.property(plan, (drawn) => {
      const world = worldOf(drawn);
      const luck = drawn.luck[Symbol.iterator]();
      const wanted = wantedOrdinals(world.set, settings.gates).map((ordinal) => `web-${ordinal}`);
      const limit = maxUnavailableOf(world.set);
      const isLucky = () => luck.next().value % 3 !== 0;
      const isSettled = settle(world, isLucky, () => {
        const available = podsIn(world).filter(isPodReady).length;
        assert.ok(
          available >= drawn.replicas - limit,
          `${available} of ${drawn.replicas} are ready, ${limit} may not be`,
        );
      });
      assert.ok(isSettled, 'it comes to rest');
      const pods = podsIn(world);
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), wanted.sort());
      const image = templateOf('app:v2').spec?.containers[0]?.image;
      const updated = pods.filter(({ spec }) => spec?.containers[0]?.image === image).length;
      assert.equal(updated, Math.max(0, drawn.replicas - drawn.partition));
      assert.ok(pods.every(isPodReady));
    }),
    { numRuns: 80 },
  );
});

test('whatever numbers are wanted next, they are what there is in the end', () => {
  fc.assert(
    fc.property(plan, plan, (before, after) => {
      const world = worldOf(before);
      const luck = before.luck[Symbol.iterator]();
      const isLucky = () => luck.next().value % 3 !== 0;
      assert.ok(settle(world, isLucky, () => {}));
      const { replicas, reserved: reserveOrdinals, start } = after;
      world.set = { ...world.set, spec: { ...world.set.spec, replicas, reserveOrdinals, ordinals: { start } } };
      const wanted = new Set(wantedOrdinals(world.set, settings.gates).map((ordinal) => `web-${ordinal}`));
      assert.ok(settle(world, isLucky, () => {}));
      assert.deepEqual(new Set(podsIn(world).map(({ metadata }) => metadata.name)), wanted);
    }),
    { numRuns: 30 },
  );
});
