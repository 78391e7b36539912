import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatefulSet } from '@kruise/api/apps/statefulset';
import type { Pod } from '@kruise/api/core/pod';
import {
  type CreateAction,
  flattenSteps,
  type PatchAction,
  type RecordAction,
  type UpdateAction,
} from '@kruise/client/actions';
import { formatTime } from '@kruise/values/time';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import fc from 'fast-check';
import { decide, type Observed } from './decide.ts';
import {
  claimOf,
  nameOfRevision,
  now,
  observedOf,
  podOf,
  revisionFor,
  type Shape,
  setOf,
  templateOf,
  withClaims,
} from './fixtures.ts';

const summary = (observed: Observed) => summarizeActions(decide(observed, now).actions);

type Case = {
  readonly name: string;
  readonly set?: StatefulSet;
  readonly pods: readonly (readonly [number, Shape?])[];
  readonly does: readonly string[];
};

const parallel = { podManagementPolicy: 'Parallel' } as const;
const pending = { phase: 'Pending' } as const;
const unready = { isReady: false };
const terminating = { isLeaving: true };

const scaling: readonly Case[] = [
  { name: 'creates the first Pod first', pods: [], does: ['create web-0'] },
  { name: 'waits for a Pod to be ready before it creates the next', pods: [[0, unready]], does: [] },
  { name: 'creates the next Pod once its predecessors are ready', pods: [[0], [1]], does: ['create web-2'] },
  { name: 'creates no Pod while a predecessor is not ready', pods: [[0], [1, unready]], does: [] },
  { name: 'creates a missing Pod before it continues', pods: [[1], [2]], does: ['create web-0'] },
  { name: 'deletes a failed Pod, and waits', pods: [[0], [1, { phase: 'Failed' }]], does: ['delete web-1'] },
  { name: 'deletes a succeeded Pod', pods: [[0, { phase: 'Succeeded' }]], does: ['delete web-0'] },
  { name: 'deletes a failed Pod once', pods: [[0, { phase: 'Failed', ...terminating }]], does: [] },
  { name: 'waits for a Pod to be deleted', pods: [[0, terminating], [1]], does: [] },
  { name: 'does nothing if all Pods are ready', pods: [[0], [1], [2]], does: [] },
  {
    name: 'waits for a Pod to be available',
    set: setOf({ minReadySeconds: 10 }),
    pods: [[0, { readySeconds: 9 }]],
    does: [],
  },
  {
    name: 'continues once a Pod is available',
    set: setOf({ minReadySeconds: 10 }),
    pods: [[0, { readySeconds: 10 }]],
    does: ['create web-1'],
  },
  {
    name: 'deletes from the highest ordinal down, one by one',
    pods: [[0], [1], [2], [3], [4]],
    does: ['delete web-4'],
  },
  { name: 'waits for a deletion before it deletes the next', pods: [[0], [1], [2], [3], [4, terminating]], does: [] },
  { name: 'does not scale in while a desired Pod is not ready', pods: [[0], [1, unready], [2], [3]], does: [] },
  {
    name: 'deletes the unhealthy Pod it would wait for',
    pods: [[0], [1], [2], [3], [4, unready]],
    does: ['delete web-4'],
  },
  {
    name: 'waits for the highest Pod while a lower condemned one is unhealthy',
    pods: [[0], [1], [2], [3, unready], [4, unready]],
    does: [],
  },
  {
    name: 'deletes a healthy Pod even if a lower condemned one is unhealthy',
    pods: [[0], [1], [2], [3, unready], [4]],
    does: ['delete web-4'],
  },
  { name: 'keeps no Pods with zero replicas', set: setOf({ replicas: 0 }), pods: [[0]], does: ['delete web-0'] },
  {
    name: 'starts at the first ordinal',
    set: setOf({ ordinals: { start: 5 }, replicas: 2 }),
    pods: [[5], [0]],
    does: ['create web-6'],
  },
  {
    name: 'deletes ordinals below the first',
    set: setOf({ ordinals: { start: 5 }, replicas: 2 }),
    pods: [[5], [6], [0], [1]],
    does: ['delete web-1'],
  },
  {
    name: 'does nothing while terminating',
    set: { ...setOf(), metadata: { ...setOf().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    pods: [[0, { phase: 'Failed' }], [7]],
    does: [],
  },
  {
    name: 'creates all Pods at once with Parallel',
    set: setOf(parallel),
    pods: [[1, pending]],
    does: ['create web-0', 'create web-2'],
  },
  {
    name: 'deletes all surplus Pods at once with Parallel',
    set: setOf({ ...parallel, replicas: 1 }),
    pods: [[0, unready], [1], [2, terminating], [3]],
    does: ['delete web-3', 'delete web-1'],
  },
  {
    name: 'replaces failed Pods with Parallel while others are created',
    set: setOf(parallel),
    pods: [[0, { phase: 'Failed' }], [1]],
    does: ['delete web-0', 'create web-2'],
  },
];
for (const { name, set = setOf(), pods, does } of scaling) {
  test(name, () => {
    const observed = observedOf(
      set,
      pods.map(([ordinal, shape]) => podOf(set, ordinal, shape)),
    );
    assert.deepEqual(summary(observed), does);
  });
}

const updated = (spec: Partial<StatefulSet['spec']> = {}) => ({
  ...setOf({ template: templateOf('v2'), ...spec }),
  status: { replicas: 3, currentReplicas: 3, currentRevision: nameOfRevision('v1') },
});
const v2 = { image: 'v2' };
const updating: readonly Case[] = [
  { name: 'updates the highest ordinal first', set: updated(), pods: [[0], [1], [2]], does: ['delete web-2'] },
  {
    name: 'waits until an updated Pod is deleted',
    set: updated(),
    pods: [[0], [1], [2, terminating]],
    does: [],
  },
  { name: 'creates an updated Pod as its replacement', set: updated(), pods: [[0], [1]], does: ['create web-2'] },
  {
    name: 'waits until an updated Pod is ready',
    set: updated(),
    pods: [[0], [1], [2, { ...v2, ...unready }]],
    does: [],
  },
  { name: 'continues below an updated Pod', set: updated(), pods: [[0], [1], [2, v2]], does: ['delete web-1'] },
  {
    name: 'does not update while a desired Pod is not ready, even one at the old revision',
    set: updated(),
    pods: [[0], [1], [2, unready]],
    does: [],
  },
  {
    name: 'updates nothing below the partition',
    set: updated({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }),
    pods: [[0], [1], [2, v2]],
    does: [],
  },
  {
    name: 'updates from the partition on',
    set: updated({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }),
    pods: [[0], [1], [2]],
    does: ['delete web-2'],
  },
  {
    name: 'updates nothing with OnDelete',
    set: updated({ updateStrategy: { type: 'OnDelete' } }),
    pods: [[0], [1], [2]],
    does: [],
  },
  {
    name: 'scales in before it updates',
    set: updated(),
    pods: [[0], [1], [2], [3]],
    does: ['delete web-3'],
  },
  {
    name: 'updates one by one with Parallel too',
    set: updated(parallel),
    pods: [[0], [1], [2]],
    does: ['delete web-2'],
  },
  {
    name: 'updates an unready Pod at the old revision with Parallel',
    set: updated(parallel),
    pods: [[0], [1], [2, unready]],
    does: ['delete web-2'],
  },
  {
    name: 'waits for an updated Pod with Parallel too',
    set: updated(parallel),
    pods: [[0], [1], [2, { ...v2, ...pending }]],
    does: [],
  },
];
for (const { name, set = setOf(), pods, does } of updating) {
  test(name, () => {
    const observed = observedOf(
      set,
      pods.map(([ordinal, shape]) => podOf(set, ordinal, shape)),
      { revisions: [revisionFor('v1', 1), revisionFor('v2', 2)] },
    );
    assert.deepEqual(summary(observed), does);
  });
}

const made = (observed: Observed) => (flattenSteps(decide(observed, now).actions).at(-1) as CreateAction).object as Pod;

test('a Pod has the name, labels and revision of its ordinal', () => {
  const { metadata, spec } = made(observedOf(setOf(), []));
  assert.equal(metadata.name, 'web-0');
  assert.equal(metadata.generateName, 'web-');
  assert.deepEqual(metadata.labels, {
    app: 'web',
    'statefulset.kubernetes.io/pod-name': 'web-0',
    'apps.kubernetes.io/pod-index': '0',
    'controller-revision-hash': nameOfRevision('v1'),
  });
  assert.deepEqual([spec?.hostname, spec?.subdomain], ['web-0', 'web']);
});

const revisionsOfNewPods = [
  { name: 'below the partition, a Pod is recreated at the current revision', partition: 2, missing: 0, image: 'v1' },
  { name: 'from the partition on, a Pod is recreated at the update revision', partition: 2, missing: 2, image: 'v2' },
];
for (const { name, partition, missing, image } of revisionsOfNewPods) {
  test(name, () => {
    const set = updated({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } });
    const pods = [0, 1, 2].filter((ordinal) => ordinal !== missing).map((ordinal) => podOf(set, ordinal));
    const { spec } = made(observedOf(set, pods, { revisions: [revisionFor('v1', 1), revisionFor('v2', 2)] }));
    assert.equal(spec?.containers?.[0]?.image, image);
  });
}

test('without rolling update settings, ordinals that the update has not reached are recreated at the current revision', () => {
  const set = updated({ updateStrategy: { type: 'RollingUpdate' } });
  const status = { ...set.status, currentReplicas: 1 };
  const revisions = [revisionFor('v1', 1), revisionFor('v2', 2)];
  const imageAt = (pods: readonly Pod[]) => made(observedOf({ ...set, status }, pods, { revisions })).spec?.containers;
  assert.equal(imageAt([])?.[0]?.image, 'v1');
  assert.equal(imageAt([podOf(set, 0)])?.[0]?.image, 'v2');
});

test('a set whose Pod finishes right after its creation is throttled', () => {
  const restOf = (secondsAgo: number, phase: Shape['phase']) => {
    const { metadata, ...rest } = podOf(setOf(), 0, { phase });
    const creationTimestamp = formatTime(now - secondsAgo * 1000);
    return decide(observedOf(setOf(), [{ ...rest, metadata: { ...metadata, creationTimestamp } }]), now).minIntervalMs;
  };
  assert.equal(restOf(1, 'Failed'), 1000);
  assert.equal(restOf(11, 'Failed'), 0);
  assert.equal(restOf(1, 'Running'), 0);
});

test('a new template is recorded before anything else', () => {
  const { actions, status } = decide(observedOf(updated(), [podOf(setOf(), 0)]), now);
  assert.deepEqual(summarizeActions(actions), [`create ${nameOfRevision('v2')}`, 'create web-1']);
  const report = status as StatefulSet['status'];
  assert.equal(report?.currentRevision, nameOfRevision('v1'));
  assert.equal(report?.updateRevision, nameOfRevision('v2'));
});

test('a restored template becomes the newest revision', () => {
  const set = setOf();
  const revisions = [revisionFor('v1', 1), revisionFor('v2', 2)];
  const [action] = decide(
    observedOf(
      set,
      [0, 1, 2].map((each) => podOf(set, each)),
      { revisions },
    ),
    now,
  ).actions;
  assert.deepEqual((action as PatchAction).patch, { revision: 3 });
  assert.equal(summarizeActions([action!])[0], `patch ${nameOfRevision('v1')}`);
});

test('unused revisions above the limit are deleted, oldest first', () => {
  const set = setOf({ revisionHistoryLimit: 1, template: templateOf('v5') });
  const revisions = ['v1', 'v2', 'v3', 'v4', 'v5'].map((image, index) => revisionFor(image, index + 1));
  const pods = [podOf(set, 0, { image: 'v1' }), podOf(set, 1, { image: 'v5' }), podOf(set, 2, { image: 'v5' })];
  const removed = summary(
    observedOf({ ...set, status: { replicas: 3, currentRevision: nameOfRevision('v1') } }, pods, { revisions }),
  );
  assert.deepEqual(removed, ['delete web-0', `delete ${nameOfRevision('v2')}`, `delete ${nameOfRevision('v3')}`]);
});

test('matching orphaned Pods and revisions are adopted, and Pods that do not match any more are released', () => {
  const set = setOf();
  const orphaned = <T extends Pod | Observed['revisions'][number]>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, ownerReferences: [] },
  });
  const foreignPod = { ...podOf(set, 2), metadata: { ...podOf(set, 2).metadata, labels: { app: 'db' } } };
  const misnamed = { ...podOf(set, 3), metadata: { ...podOf(set, 3).metadata, name: 'web-03' } };
  const observed = observedOf(set, [orphaned(podOf(set, 0)), podOf(set, 1), foreignPod, misnamed], {
    revisions: [orphaned(revisionFor('v1', 1))],
  });
  assert.deepEqual(summary(observed), [`patch ${nameOfRevision('v1')}`, 'patch web-0', 'patch web-2', 'patch web-03']);
});

test('a Pod is not created while its name is taken', () => {
  const set = setOf();
  const { metadata, ...rest } = podOf(set, 1);
  const foreignPod = { ...rest, metadata: { ...metadata, labels: {}, ownerReferences: [] } };
  const observed = observedOf(set, [podOf(set, 0), foreignPod]);
  assert.deepEqual(summary(observed), []);
  assert.equal((decide(observed, now).status as StatefulSet['status'])?.replicas, 1);
});

test('a Pod that lost its identity gets it back', () => {
  const set = setOf({ replicas: 1 });
  const { metadata, ...rest } = podOf(set, 0);
  const [action] = decide(
    observedOf(set, [{ ...rest, metadata: { ...metadata, labels: { app: 'web' } } }]),
    now,
  ).actions;
  const { object, outcomeEvents } = action as UpdateAction;
  assert.equal(object.metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'web-0');
  assert.equal(object.metadata.labels?.['apps.kubernetes.io/pod-index'], '0');
  assert.equal(outcomeEvents?.done?.message, 'update Pod web-0 in StatefulSet web successful');
});

test('actions on Pods have the event messages of Kubernetes', () => {
  const [creation] = decide(observedOf(setOf(), []), now).actions as CreateAction[];
  assert.deepEqual(creation?.outcomeEvents?.done, {
    reason: 'SuccessfulCreate',
    message: 'create Pod web-0 in StatefulSet web successful',
  });
  assert.deepEqual(creation?.outcomeEvents?.failed, {
    reason: 'FailedCreate',
    message: 'create Pod web-0 in StatefulSet web failed error: {error}',
  });
  const [deletion] = decide(observedOf(setOf(), [podOf(setOf(), 0, { phase: 'Failed' })]), now)
    .actions as CreateAction[];
  assert.deepEqual(deletion?.outcomeEvents?.done, {
    reason: 'SuccessfulDelete',
    message: 'delete Pod web-0 in StatefulSet web successful',
  });
});

test('PVCs are created before the Pod that uses them', () => {
  const set = withClaims();
  const [claim, pod] = decide(observedOf(set, []), now).actions as CreateAction[];
  assert.equal(summarizeActions([claim!])[0], 'create www-web-0');
  assert.deepEqual(claim?.object.metadata, {
    name: 'www-web-0',
    namespace: 'default',
    labels: { tier: 'data', app: 'web' },
  });
  assert.equal(claim?.outcomeEvents?.done?.message, 'create Claim www-web-0 Pod web-0 in StatefulSet web success');
  const { volumes } = (pod!.object as Pod).spec!;
  assert.deepEqual(volumes, [{ name: 'www', persistentVolumeClaim: { claimName: 'www-web-0' } }]);
});

test('with Parallel, all PVCs are created before all Pods, so that each kind is batched', () => {
  assert.deepEqual(summary(observedOf(withClaims({ ...parallel, replicas: 2 }), [])), [
    'create www-web-0',
    'create www-web-1',
    'create web-0',
    'create web-1',
  ]);
});

test('an existing PVC is used', () => {
  assert.deepEqual(summary(observedOf(withClaims(), [], { claims: [claimOf('www-web-0')] })), ['create web-0']);
});

test('a PVC replaces the volume of the same name in the template', () => {
  const template = templateOf('v1');
  const volumes = [
    { name: 'www', emptyDir: {} },
    { name: 'tmp', emptyDir: {} },
  ];
  const set = withClaims({ template: { ...template, spec: { ...template.spec!, volumes } } });
  const pod = made(observedOf(set, [], { claims: [claimOf('www-web-0')] }));
  assert.deepEqual(
    pod.spec?.volumes?.map(({ name }) => name),
    ['www', 'tmp'],
  );
});

test('a Pod waits for a terminating PVC, with an event', () => {
  const claims = [claimOf('www-web-0', { deletionTimestamp: '2026-01-01T00:00:00Z' })];
  const [action] = decide(observedOf(withClaims(), [], { claims }), now).actions;
  assert.deepEqual((action as RecordAction).event.reason, 'FailedCreate');
  assert.match(
    (action as RecordAction).event.message,
    /^create Pod web-0 in StatefulSet web failed error: pvc www-web-0 is being deleted$/,
  );
});

test('a pending Pod gets its missing PVC', () => {
  const set = withClaims();
  assert.deepEqual(summary(observedOf(set, [podOf(set, 0, pending)])), ['create www-web-0']);
});

test('the status counts Pods by state', () => {
  const set = updated({ minReadySeconds: 10 });
  const pods = [
    podOf(set, 0),
    podOf(set, 1, { readySeconds: 5 }),
    podOf(set, 2, { ...v2, ...unready }),
    podOf(set, 3, terminating),
  ];
  const revisions = [revisionFor('v1', 1), revisionFor('v2', 2)];
  const { status, requeueAfterSeconds } = decide(observedOf(set, pods, { revisions }), now);
  assert.deepEqual(status, {
    observedGeneration: 1,
    replicas: 4,
    readyReplicas: 3,
    currentReplicas: 2,
    updatedReplicas: 1,
    currentRevision: nameOfRevision('v1'),
    updateRevision: nameOfRevision('v2'),
    collisionCount: 0,
    availableReplicas: 2,
  });
  assert.equal(requeueAfterSeconds, 5);
});

test('a Pod deleted for an update does not count as current', () => {
  const set = updated();
  const { status } = decide(
    observedOf(
      set,
      [0, 1, 2].map((each) => podOf(set, each)),
    ),
    now,
  );
  assert.equal((status as StatefulSet['status'])?.currentReplicas, 2);
});

const completions = [
  { name: 'is current once every Pod is at it and ready', spec: {}, last: v2, isComplete: true },
  { name: 'is not current before every Pod is ready', spec: {}, last: { ...v2, ...unready }, isComplete: false },
  {
    name: 'does not become current with OnDelete',
    spec: { updateStrategy: { type: 'OnDelete' } } as const,
    last: v2,
    isComplete: false,
  },
];
for (const { name, spec, last, isComplete } of completions) {
  test(`a revision ${name}`, () => {
    const set = updated(spec);
    const pods = [podOf(set, 0, v2), podOf(set, 1, v2), podOf(set, 2, last)];
    const { status } = decide(observedOf(set, pods, { revisions: [revisionFor('v1', 1), revisionFor('v2', 2)] }), now);
    const { currentRevision, currentReplicas } = status as NonNullable<StatefulSet['status']>;
    assert.equal(currentRevision, nameOfRevision(isComplete ? 'v2' : 'v1'));
    assert.equal(currentReplicas, isComplete ? 3 : 0);
  });
}

test('a hash collision is counted in the status', () => {
  const other = { ...revisionFor('v9', 1), metadata: { name: nameOfRevision('v1'), ownerReferences: [] } };
  const observed = {
    ...observedOf(setOf(), [], { revisions: [] }),
    findRevision: (name: string) => (name === nameOfRevision('v1') ? other : undefined),
  };
  const { status } = decide(observed, now);
  assert.equal((status as StatefulSet['status'])?.collisionCount, 1);
});

/** Executes a decision; created Pods become ready and deleted Pods are gone. */
function carryOut(observed: Observed): Observed {
  const { actions, status } = decide(observed, now);
  const pods = new Map(observed.pods.map((pod) => [pod.metadata.name!, pod]));
  const revisions = new Map(observed.revisions.map((each) => [each.metadata.name!, each]));
  for (const [name, pod] of pods) if (pod.metadata.deletionTimestamp) pods.delete(name);
  for (const action of flattenSteps(actions)) {
    if (action.type === 'effect' || action.type === 'record') continue;
    const { object } = action;
    const { name = '' } = object.metadata;
    if (object.kind === 'Pod' && action.type === 'create') {
      const image = (object as Pod).spec?.containers?.[0]?.image ?? '';
      pods.set(name, podOf(observed.set, Number(name.slice(4)), { image }));
    } else if (object.kind === 'Pod') pods.delete(name);
    else if (action.type === 'remove') revisions.delete(name);
    else revisions.set(name, object as Observed['revisions'][number]);
  }
  for (const [name, pod] of pods) {
    if (pod.status?.phase === 'Pending' || pod.status?.conditions?.[0]?.status === 'False') {
      pods.set(name, podOf(observed.set, Number(name.slice(4)), { image: pod.spec!.containers![0]!.image! }));
    }
  }
  const set = { ...observed.set, status: status as NonNullable<StatefulSet['status']> };
  return observedOf(set, [...pods.values()], { revisions: [...revisions.values()] });
}

const anyShape = fc.record({
  image: fc.constantFrom('v1', 'v2', 'v3'),
  phase: fc.constantFrom('Running', 'Pending', 'Failed', 'Succeeded'),
  isLeaving: fc.boolean(),
});
const anyWorld = fc
  .record({
    replicas: fc.nat(5),
    start: fc.nat(2),
    partition: fc.nat(6),
    image: fc.constantFrom('v1', 'v2', 'v3'),
    policy: fc.constantFrom('OrderedReady', 'Parallel'),
    pods: fc.uniqueArray(fc.tuple(fc.nat(7), anyShape), { selector: ([ordinal]) => ordinal }),
  })
  .map(({ replicas, start, partition, image, policy, pods }) => {
    const set = setOf(
      {
        replicas,
        ordinals: { start },
        template: templateOf(image),
        podManagementPolicy: policy,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
      },
      { replicas: 0, currentRevision: nameOfRevision('v1') },
    );
    return observedOf(
      set,
      pods.map(([ordinal, shape]) => podOf(set, ordinal, shape)),
    );
  });

test('from any state, the set becomes stable with the desired Pods', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      let settled = world;
      for (let reconciles = 0; reconciles < 40; reconciles++) settled = carryOut(settled);
      assert.deepEqual(summary(settled), []);
      const { replicas, ordinals } = world.set.spec!;
      const names = settled.pods.map(({ metadata }) => metadata.name).sort();
      assert.deepEqual(
        names,
        Array.from({ length: replicas! }, (_, index) => `web-${ordinals!.start! + index}`),
      );
    }),
  );
});

test('with OrderedReady, a reconcile changes at most one Pod', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      fc.pre(world.set.spec?.podManagementPolicy === 'OrderedReady');
      const touched = flattenSteps(decide(world, now).actions).filter(
        ({ type }) => type === 'create' || type === 'remove',
      );
      const pods = touched.filter((action) => 'object' in action && action.object.kind === 'Pod');
      assert.ok(pods.length <= 1, summarizeActions(pods).join());
    }),
  );
});

test('with OrderedReady, an update deletes no Pod unless all desired Pods are ready', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const { replicas = 0, ordinals, podManagementPolicy } = world.set.spec!;
      fc.pre(podManagementPolicy === 'OrderedReady');
      const wanted = Array.from({ length: replicas }, (_, index) => `web-${(ordinals?.start ?? 0) + index}`);
      const healthy = world.pods.filter(
        ({ metadata, status }) => status?.phase === 'Running' && !metadata.deletionTimestamp,
      );
      const names = new Set(healthy.map(({ metadata }) => metadata.name));
      const removed = flattenSteps(decide(world, now).actions).find((action) => action.type === 'remove');
      const isForUpdate = names.has(removed?.object.metadata.name) && wanted.includes(removed!.object.metadata.name!);
      if (isForUpdate) assert.ok(wanted.every((name) => names.has(name)));
    }),
  );
});
