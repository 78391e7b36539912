/** Property tests of whole rollouts with kubelets in random order: limits hold at every step, and rollouts finish. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { inPlaceUpdateReadyCondition, specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { isPodReady } from '@kruise/machinery/pods';
import fc from 'fast-check';
import { allFeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { carryOut, type Objects, objectsOf, put, run } from '../testing/world.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { decide } from './decide.ts';
import { claimOf, now, podOf, setOf, templateOf, v1 } from './fixtures.ts';
import { maxUnavailableOf } from './numbers.ts';
import { wantedOrdinals } from './ordinals.ts';

const settings = managerSettings({
  gates: featureGates({ ...allFeatureGates, PreDownloadImageForInPlaceUpdate: false }),
});

type World = { set: StatefulSet; readonly objects: Objects; time: number };

const podsIn = ({ objects }: World) => objectsOf<Pod>(objects, 'Pod');

/** Decides and applies the actions; returns their number. */
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
    /** Random choice of the Pods that become ready at each step. */
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

test('an update respects its limits at every step, and ends with all Pods beyond the partition updated', () => {
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
          `${available} of ${drawn.replicas} are ready, ${limit} may be unavailable`,
        );
      });
      assert.ok(isSettled, 'the rollout does not finish');
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

test('any change of the desired ordinals results in exactly these ordinals', () => {
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
function applyUserAction(world: World, { does, by }: UserAction): void {
  const { set, objects } = world;
  const pods = podsIn(world);
  const pod = pods[by % pods.length];
  const { updateStrategy } = set.spec;
  const change = (spec: Partial<StatefulSet['spec']>) => {
    world.set = { ...set, spec: { ...set.spec, ...spec } };
  };
  if (does === 'scale') change({ replicas: by });
  else if (does === 'update') change({ template: hookedTemplate(`app:v${by}`) });
  else if (does === 'hold back') {
    const rollingUpdate = { ...updateStrategy?.rollingUpdate, partition: by };
    change({ updateStrategy: { ...updateStrategy, rollingUpdate } });
  } else if (pod && does === 'kill') objects.delete(`Pod/${pod.metadata.name}`);
  else if (pod) put(objects, labelled(pod, { [specifiedDeleteLabel]: 'true' }));
}

function labelled(pod: Pod, labels: { readonly [key: string]: string }): Pod {
  return { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } } };
}

const hold = { 'example.com/hold': 'yes' };
const busy = { 'example.com/busy': 'yes' };

function hookedTemplate(image: string): StatefulSet['spec']['template'] {
  const { metadata, ...template } = templateOf(image);
  return { ...template, metadata: { labels: { ...metadata?.labels, ...hold, ...busy } } };
}

/** Simulates kubelets, hooks and the first write of a readiness gate for a Pod. */
function tended(pod: Pod, now: number): Pod {
  const { conditions = [] } = pod.status ?? {};
  const isGated = conditions.some(({ type }) => type === inPlaceUpdateReadyCondition);
  const gate = { type: inPlaceUpdateReadyCondition, status: 'True' as const };
  const opened = isGated ? pod : { ...pod, status: { ...pod.status, conditions: [...conditions, gate] } };
  switch (lifecycleStateOf(pod)) {
    case 'PreparingDelete':
      return run(labelled(opened, { 'example.com/hold': 'no' }), now);
    case 'PreparingUpdate':
      return run(labelled(opened, { 'example.com/busy': 'no' }), now);
    case 'Updated':
      return run(labelled(opened, busy), now);
    default:
      return run(opened, now);
  }
}

test('with any concurrent user action, no Pod is disrupted beyond the limits, and the rollout finishes', () => {
  fc.assert(
    fc.property(plan, userActions, fc.boolean(), (drawn, meanwhile, isHeld) => {
      const world = worldOf({ ...drawn, hasClaims: false });
      const inPlaceUpdate = { labelsHandler: busy, markPodNotReady: isHeld };
      // With ordered Pod management, a blocked Pod blocks the very update that would release it.
      const held = drawn.podManagementPolicy === 'Parallel' ? { inPlaceUpdate } : {};
      const lifecycle = { preDelete: { labelsHandler: hold }, ...held };
      world.set = { ...world.set, spec: { ...world.set.spec, lifecycle, template: hookedTemplate('app:v2') } };
      const luck = drawn.luck[Symbol.iterator]();
      const inService = () => {
        const wanted = new Set(wantedOrdinals(world.set, settings.gates).map((ordinal) => `web-${ordinal}`));
        return podsIn(world).filter((pod) => wanted.has(pod.metadata.name ?? '') && isInService(pod));
      };
      for (let round = 0, idle = 0; idle < 3 || round <= 25; round++) {
        assert.ok(round < 400, 'the rollout does not finish');
        for (const userAction of meanwhile) if (userAction.round === round) applyUserAction(world, userAction);
        const before = new Set(inService().map(({ metadata }) => metadata.uid));
        const least = (world.set.spec.replicas ?? 0) - maxUnavailableOf(world.set);
        const done = step(world);
        const left = inService().filter(({ metadata }) => before.has(metadata.uid)).length;
        assert.ok(left === before.size || left >= least, `${left} of ${before.size} are left, and ${least} needed`);
        const changed = podsIn(world).filter((pod) => JSON.stringify(tended(pod, world.time)) !== JSON.stringify(pod));
        for (const pod of changed) if (luck.next().value % 3 !== 0) put(world.objects, tended(pod, world.time));
        idle = done === 0 && changed.length === 0 ? idle + 1 : 0;
      }
      const { replicas = 0, updateStrategy, template } = world.set.spec;
      const imageOf = ({ spec }: Pick<Pod, 'spec'> | typeof template) => spec?.containers[0]?.image;
      const pods = inService();
      const updated = pods.filter((pod) => imageOf(pod) === imageOf(template)).length;
      assert.deepEqual([pods.length, podsIn(world).length], [replicas, replicas]);
      assert.ok(updated >= replicas - Number(updateStrategy?.rollingUpdate?.partition));
    }),
    { numRuns: 80 },
  );
});

/** Reports whether a Pod serves traffic and is not being drained. */
function isInService(pod: Pod): boolean {
  return isPodReady(pod) && (lifecycleStateOf(pod) ?? 'Normal') === 'Normal';
}
