/** Whole rollouts, decided step by step in a world where kubelets do as they like: budgets are kept, and all ends well. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import type { CloneSet, CloneSetRollingUpdate, CloneSetStatus } from '@kruise/api/kruise/cloneset';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import type { Action } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import fc from 'fast-check';
import { allFeatureGates, featureGates } from '../../feature-gates.ts';
import { podType } from '../../patch-pod.ts';
import { managerSettings } from '../../settings.ts';
import { decide } from './decide.ts';
import { cloneSetOf, now, podOf, revisionOf } from './fixtures.ts';

const settings = managerSettings({
  gates: featureGates({ ...allFeatureGates, PreDownloadImageForInPlaceUpdate: false }),
});

type World = { cloneSet: CloneSet; pods: Map<string, Pod>; revisions: Map<string, ControllerRevision>; time: number };

function worldOf(replicas: number, rolling: CloneSetRollingUpdate): World {
  const old = revisionOf('app:v1', 1);
  const names = Array.from({ length: replicas }, (_, index) => `pod-${index}`);
  const cloneSet = cloneSetOf({ replicas, updateStrategy: { rollingUpdate: rolling } });
  const status = { currentRevision: old.metadata.name, updateRevision: old.metadata.name } as CloneSetStatus;
  return {
    cloneSet: { ...cloneSet, status },
    pods: new Map(names.map((name) => [name, podOf({ name })])),
    revisions: new Map([[old.metadata.name ?? '', old]]),
    time: now,
  };
}

/** Decides and carries out; returns how many things were done, words aside. */
function step(world: World): number {
  const { cloneSet } = world;
  const revisions = [...world.revisions.values()];
  const observed = {
    cloneSet,
    pods: [...world.pods.values()],
    claims: [],
    revisions,
    revisionNamed: (name: string) => world.revisions.get(name),
    nodeLabels: () => undefined,
    imagePullJobs: [],
    budgetNamed: () => undefined,
  };
  world.time += 1000;
  const { actions, status } = decide(observed, settings, world.time);
  for (const action of actions) carryOut(world, action);
  const outcome = { failures: [], isStale: false, written: new Map() };
  const reported = typeof status === 'function' ? status(outcome) : status;
  world.cloneSet = { ...cloneSet, ...(reported ? { status: reported } : {}) };
  return actions.filter(({ type }) => type !== 'record').length;
}

function carryOut({ pods, revisions }: World, action: Action): void {
  if (action.type === 'record' || action.type === 'effect') return;
  const name = action.object.metadata.name ?? '';
  // What is made of Pods and revisions here are Pods and revisions.
  const isPod = action.object.kind === 'Pod';
  const known = (isPod ? pods : revisions) as Map<string, Pod | ControllerRevision>;
  if (action.type === 'create') {
    known.set(name, {
      ...(action.object as Pod),
      metadata: { ...action.object.metadata, uid: `uid-${name}`, creationTimestamp: '2026-01-01T12:00:00Z' },
    });
  } else if (action.type === 'remove') {
    known.delete(name);
  } else if (action.type === 'patch') {
    const before = known.get(name) as unknown as JsonObject;
    const patch = action.patch as JsonObject;
    const after =
      action.patchType === 'strategic'
        ? applyStrategicMergePatch(before, patch, podType)
        : applyMergePatch(before, patch);
    known.set(name, after as unknown as Pod);
  }
}

/** A kubelet runs what a Pod asks for, and says whether it is ready. */
function tend(world: World, name: string): void {
  const pod = world.pods.get(name);
  if (!pod) return;
  const image = pod.spec?.containers[0]?.image ?? '';
  const isOpen = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition)?.status === 'True';
  const condition = (type: string, isTrue: boolean): PodCondition => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: '2026-01-01T12:00:00Z',
  });
  const kept = (pod.status?.conditions ?? []).filter(({ type }) => type === inPlaceUpdateReadyCondition);
  world.pods.set(name, {
    ...pod,
    spec: { ...pod.spec!, nodeName: 'node' },
    status: {
      phase: 'Running',
      conditions: [...kept, condition('ContainersReady', true), condition('Ready', isOpen)],
      containerStatuses: [
        { name: 'main', image, imageID: `sha256:${image}`, ready: true, restartCount: 0, state: {}, lastState: {} },
      ],
    },
  });
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
    /** Which Pods' kubelets come next, by number. */
    order: fc.array(fc.nat(9), { minLength: 10, maxLength: 40 }),
  })
  .filter(({ maxUnavailable, maxSurge }) => maxUnavailable > 0 || maxSurge > 0);

test('an update keeps its budget at every step, and ends with as many new Pods as the partition leaves', () => {
  fc.assert(
    fc.property(plan, ({ replicas, order, ...rolling }) => {
      const { partition, maxUnavailable, maxSurge } = rolling;
      const world = worldOf(replicas, rolling);
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
      const world = worldOf(0, {});
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
