import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment, DeploymentStatus } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, flattenSteps, type Step } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { controllerReference } from '@kruise/machinery/owner-references';
import { formatTime, parseTime } from '@kruise/values/time';
import fc from 'fast-check';
import { decide, type Observed } from './decide.ts';

const now = parseTime('2026-01-01T00:00:00Z');
const seconds = (count: number) => formatTime(now + count * 1000);

type Spec = NonNullable<Deployment['spec']>;
type Facts = {
  readonly spec?: Partial<Spec>;
  readonly status?: DeploymentStatus;
  readonly annotations?: { readonly [key: string]: string };
  readonly deletionTimestamp?: string;
};

const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';
const desired = 'deployment.kubernetes.io/desired-replicas';
const maximum = 'deployment.kubernetes.io/max-replicas';

const templateOf = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image }] },
});
const rolling = (maxSurge: number | string, maxUnavailable: number | string): NonNullable<Spec['strategy']> => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});

/** Returns a Deployment with image `new`, at the revision of its newest ReplicaSet by default. */
function deploymentOf({ spec, status, annotations, deletionTimestamp }: Facts = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'web-uid',
      generation: 1,
      annotations: { [revision]: '9', ...annotations },
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
    },
    spec: {
      replicas: 10,
      selector: { matchLabels: { app: 'web' } },
      template: templateOf('new'),
      strategy: rolling('25%', '25%'),
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      ...spec,
    },
    ...(status ? { status } : {}),
  } as Deployment;
}

type SetFacts = {
  readonly size: number;
  readonly available?: number;
  readonly replicas?: number;
  /** Size annotations: desired and maximum. */
  readonly sizeAnnotations?: readonly [desired: number, maximum: number];
  readonly annotations?: { readonly [key: string]: string };
  readonly conditions?: NonNullable<ReplicaSet['status']>['conditions'];
  readonly isOrphan?: boolean;
};

/** Returns the ReplicaSet `web-<image>`; images later in the alphabet are newer. */
function setOf(image: string, facts: SetFacts): ReplicaSet {
  const {
    size,
    available = size,
    replicas = size,
    sizeAnnotations = [10, 13],
    annotations,
    conditions,
    isOrphan,
  } = facts;
  const age = ['a', 'b', 'c', 'd', 'new'].indexOf(image);
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `web-${image}`,
      namespace: 'default',
      uid: image,
      generation: 1,
      creationTimestamp: seconds(-1000 + age),
      labels: { app: 'web', 'pod-template-hash': image },
      annotations: {
        [revision]: String(image === 'new' ? 9 : age + 1),
        [desired]: String(sizeAnnotations[0]),
        [maximum]: String(sizeAnnotations[1]),
        ...annotations,
      },
      ownerReferences: isOrphan ? [] : [controllerReference(deploymentOf())],
    },
    spec: {
      replicas: size,
      selector: { matchLabels: { app: 'web', 'pod-template-hash': image } },
      template: { ...templateOf(image), metadata: { labels: { app: 'web', 'pod-template-hash': image } } },
    },
    status: {
      replicas,
      readyReplicas: available,
      availableReplicas: available,
      observedGeneration: 1,
      ...(conditions ? { conditions } : {}),
    },
  };
}

function observed(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  pods: { readonly [image: string]: readonly Pod[] } = {},
): Observed {
  return {
    deployment,
    candidates: sets,
    findReplicaSet: (name) => sets.find(({ metadata }) => metadata.name === name),
    podsOf: ({ metadata }) => pods[metadata.uid ?? ''] ?? [],
  };
}

/** Summarizes actions: `new 0→3`, `+ 3` for a created ReplicaSet, `a ×` for a deleted one. */
function summary(steps: readonly Step[], sets: readonly ReplicaSet[]): string {
  return flattenSteps(steps)
    .map((action) => {
      if (action.type === 'record') return `record ${action.event.reason}`;
      if (action.type === 'effect') return action.name;
      const { metadata, spec } = action.object as ReplicaSet;
      if (action.object.kind === 'Deployment')
        return action.type === 'update' && action.subresource ? 'mark' : 'update';
      const image = metadata.name?.replace('web-', '');
      if (action.type === 'create') return `+ ${spec?.replicas}`;
      if (action.type === 'remove') return `${image} ×`;
      if (action.type === 'patch') return `${image} claimed`;
      const before = sets.find(({ metadata: each }) => each.uid === metadata.uid)?.spec?.replicas;
      return `${image} ${before}→${spec?.replicas}`;
    })
    .join(', ');
}

type Row = {
  readonly name: string;
  readonly deployment?: Facts;
  readonly sets: readonly ReplicaSet[];
  readonly pods?: { readonly [image: string]: readonly Pod[] };
  readonly does: string;
};

const podIn = (phase: string, metadata: object = {}): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, status: { phase } }) as Pod;
const oldAndNew = (oldSize: number, newSize: number, newAvailable = newSize, oldAvailable = oldSize) => [
  setOf('a', { size: oldSize, available: oldAvailable }),
  setOf('new', { size: newSize, available: newAvailable }),
];
const complete: DeploymentStatus = { observedGeneration: 1, replicas: 10, updatedReplicas: 10, availableReplicas: 10 };
const recreate: Partial<Spec> = { strategy: { type: 'Recreate' } };

const rows: readonly Row[] = [
  // RollingUpdate
  { name: 'creates the first ReplicaSet with all Pods', sets: [], does: '+ 10, mark' },
  {
    name: 'creates a new ReplicaSet within maxSurge, and scales down the old one by maxUnavailable',
    sets: [setOf('a', { size: 10 })],
    does: '+ 3, a 10→8, mark',
  },
  {
    name: 'creates a new ReplicaSet without Pods if there is no room, and makes room',
    sets: [setOf('a', { size: 8 }), setOf('b', { size: 5, available: 0 })],
    does: '+ 0, b 5→0, mark',
  },
  { name: 'scales up the new ReplicaSet before old ones scale down', sets: oldAndNew(8, 3), does: 'new 3→5' },
  { name: 'scales up the new ReplicaSet at most to the desired replicas', sets: oldAndNew(2, 9), does: 'new 9→10' },
  { name: 'scales down a new ReplicaSet that is too large', sets: oldAndNew(0, 12), does: 'new 12→10' },
  { name: 'scales down old ReplicaSets by the available Pods above the minimum', sets: oldAndNew(8, 5), does: 'a 8→3' },
  { name: 'waits for new Pods to be available', sets: oldAndNew(8, 5, 0), does: '' },
  { name: 'waits with one old Pod unavailable, too', sets: oldAndNew(8, 5, 0, 7), does: '' },
  {
    name: 'scales down unavailable old Pods first',
    sets: [setOf('a', { size: 4 }), setOf('b', { size: 4, available: 2 }), setOf('new', { size: 5, available: 3 })],
    does: 'a 4→3, b 4→2',
  },
  {
    name: 'scales down no more unavailable old Pods than new ones allow',
    sets: oldAndNew(10, 3, 0, 6),
    does: 'a 10→8',
  },
  {
    name: 'scales down the oldest first',
    sets: [setOf('b', { size: 4 }), setOf('a', { size: 4 }), setOf('new', { size: 5 })],
    does: 'a 4→0, b 4→3',
  },
  {
    name: 'ignores stale status of a ReplicaSet that was scaled to zero',
    sets: [
      setOf('a', { size: 0, available: 5, replicas: 5 }),
      setOf('b', { size: 8 }),
      setOf('new', { size: 5, available: 0 }),
    ],
    does: '',
  },
  {
    name: 'ignores stale status of a ReplicaSet that was scaled down',
    deployment: { spec: { replicas: 4, strategy: rolling(0, 1) } },
    sets: [
      setOf('a', { size: 4, available: 6, sizeAnnotations: [4, 4] }),
      setOf('new', { size: 0, sizeAnnotations: [4, 4] }),
    ],
    does: 'a 4→3',
  },
  {
    name: 'does nothing when the rollout is complete',
    deployment: { status: complete },
    sets: oldAndNew(0, 10),
    does: '',
  },
  {
    name: 'takes one Pod down if the budget rounds to zero',
    deployment: { spec: { replicas: 5, strategy: rolling('0%', '10%') } },
    sets: [setOf('a', { size: 5, sizeAnnotations: [5, 5] }), setOf('new', { size: 0, sizeAnnotations: [5, 5] })],
    does: 'a 5→4',
  },
  {
    name: 'needs no available new Pod if all may be unavailable',
    deployment: { spec: { replicas: 2, strategy: rolling(0, 5) } },
    sets: [setOf('a', { size: 2, sizeAnnotations: [2, 2] })],
    does: '+ 0, a 2→0, mark',
  },
  {
    name: 'with zero replicas has no Pods',
    deployment: { spec: { replicas: 0 } },
    sets: [setOf('new', { size: 0, sizeAnnotations: [0, 0] })],
    does: '',
  },
  // New ReplicaSet
  {
    name: 'uses the oldest of two with its template',
    sets: [{ ...setOf('d', { size: 0 }), spec: setOf('new', { size: 0 }).spec! }, setOf('new', { size: 10 })],
    does: 'd 0→3, mark',
  },
  {
    name: 'gives a reused ReplicaSet the next revision',
    sets: [
      setOf('new', { size: 10, annotations: { [revision]: '1' } }),
      setOf('b', { size: 0, annotations: { [revision]: '2' } }),
    ],
    does: 'new 10→10, mark',
  },
  {
    name: 'sets its revision annotation',
    deployment: { annotations: { [revision]: '8' } },
    sets: [setOf('new', { size: 10 })],
    does: 'mark',
  },
  {
    name: 'copies its annotations',
    deployment: { annotations: { note: 'x' } },
    sets: [setOf('new', { size: 10 })],
    does: 'new 10→10',
  },
  {
    name: 'copies an annotation while it scales, in one write',
    deployment: { annotations: { note: 'x' } },
    sets: oldAndNew(8, 3),
    does: 'new 3→5',
  },
  {
    name: 'does not copy its own annotations',
    deployment: {
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': 'x',
        [history]: '1',
        [desired]: '7',
        [maximum]: '7',
      },
    },
    sets: [setOf('new', { size: 10 })],
    does: '',
  },
  {
    name: 'copies minReadySeconds',
    deployment: { spec: { minReadySeconds: 5 } },
    sets: [setOf('new', { size: 10 })],
    does: 'new 10→10',
  },
  {
    name: 'keeps a revision annotation that is not a number',
    sets: [setOf('new', { size: 10, annotations: { [revision]: 'x' } })],
    deployment: { annotations: { note: 'x', [revision]: 'x' } },
    does: '',
  },
  {
    name: 'adopts an orphaned ReplicaSet',
    sets: [setOf('new', { size: 10, isOrphan: true })],
    does: 'new claimed',
  },
  // Recreate
  {
    name: 'scales down everything before it creates anything',
    deployment: { spec: recreate },
    sets: [setOf('a', { size: 6, sizeAnnotations: [10, 10] }), setOf('b', { size: 4, sizeAnnotations: [10, 10] })],
    does: 'a 6→0, b 4→0',
  },
  {
    name: 'waits until old ReplicaSets have no Pods',
    deployment: { spec: recreate },
    sets: [setOf('a', { size: 0, replicas: 1 })],
    does: '',
  },
  {
    name: 'waits for terminating Pods',
    deployment: { spec: recreate },
    sets: [setOf('a', { size: 0 })],
    pods: { a: [podIn('Running', { deletionTimestamp: seconds(0) })] },
    does: '',
  },
  {
    name: 'waits for Pods that the status does not report',
    deployment: { spec: recreate },
    sets: [setOf('a', { size: 0 })],
    pods: { a: [podIn('Unknown')] },
    does: '',
  },
  {
    name: 'does not wait for finished Pods',
    deployment: { spec: recreate },
    sets: [setOf('a', { size: 0 })],
    pods: { a: [podIn('Failed'), podIn('Succeeded')] },
    does: '+ 10, mark',
  },
  {
    name: 'scales up its existing ReplicaSet',
    deployment: { spec: recreate },
    sets: [setOf('a', { size: 0 }), setOf('new', { size: 0 })],
    pods: { new: [podIn('Running')] },
    does: 'new 0→10',
  },
  // Scaling
  {
    name: 'scales the only ReplicaSet',
    deployment: { spec: { replicas: 12 } },
    sets: oldAndNew(0, 10),
    does: 'new 10→12',
  },
  {
    name: 'scales the only ReplicaSet with Pods, even if it is an old one',
    deployment: { spec: { replicas: 12 } },
    sets: oldAndNew(10, 0),
    does: 'a 10→12',
  },
  {
    name: 'updates the size annotation of the only ReplicaSet with Pods, so that the rollout continues',
    deployment: { spec: { replicas: 2, strategy: rolling(0, '25%') } },
    sets: [setOf('a', { size: 2, sizeAnnotations: [3, 3] }), setOf('new', { size: 0, sizeAnnotations: [3, 3] })],
    does: 'a 2→2',
  },
  {
    name: 'updates the size annotations of ReplicaSets that are not rolled, and keeps their sizes',
    deployment: { spec: { ...recreate, replicas: 12 } },
    sets: oldAndNew(5, 5),
    does: 'a 5→5, new 5→5',
  },
  {
    name: 'keeps several ReplicaSets unchanged while paused with Recreate',
    deployment: { spec: { ...recreate, replicas: 12, paused: true } },
    sets: oldAndNew(5, 5),
    does: '',
  },
  {
    name: 'does not roll out while it is scaled',
    deployment: { spec: { replicas: 20 } },
    sets: oldAndNew(8, 5),
    does: 'a 8→15, new 5→10',
  },
  {
    name: 'scales down proportionally',
    deployment: { spec: { replicas: 5 } },
    sets: oldAndNew(8, 5),
    does: 'a 8→4, new 5→3',
  },
  {
    name: 'gives the remainder to the largest',
    deployment: { spec: { replicas: 14, strategy: rolling(0, 1) } },
    sets: [
      setOf('a', { size: 5, sizeAnnotations: [10, 10] }),
      setOf('b', { size: 3, sizeAnnotations: [10, 10] }),
      setOf('new', { size: 2, sizeAnnotations: [10, 10] }),
    ],
    does: 'a 5→7, b 3→4, new 2→3',
  },
  {
    name: 'scales up the newer of two with the same size more',
    deployment: { spec: { replicas: 11, strategy: rolling(0, 1) } },
    sets: [setOf('a', { size: 5, sizeAnnotations: [10, 10] }), setOf('new', { size: 5, sizeAnnotations: [10, 10] })],
    does: 'new 5→6, a 5→5',
  },
  {
    name: 'scales down the older of two with the same size more',
    deployment: { spec: { replicas: 9, strategy: rolling(0, 1) } },
    sets: [setOf('a', { size: 5, sizeAnnotations: [10, 10] }), setOf('new', { size: 5, sizeAnnotations: [10, 10] })],
    does: 'a 5→4, new 5→5',
  },
  {
    name: 'scales everything down to zero',
    deployment: { spec: { replicas: 0 } },
    sets: oldAndNew(8, 5),
    does: 'a 8→0, new 5→0',
  },
  {
    name: 'scales down old ReplicaSets when the new one is saturated',
    deployment: { spec: { paused: true } },
    sets: [setOf('a', { size: 2 }), setOf('new', { size: 10 })],
    does: 'a 2→0',
  },
  {
    name: 'uses the existing Pods without size annotations',
    deployment: { spec: { replicas: 20, strategy: rolling(0, 1), paused: true }, status: { replicas: 10 } },
    sets: [
      setOf('a', { size: 5, annotations: { [maximum]: 'x' } }),
      setOf('new', { size: 5, annotations: { [maximum]: '0' } }),
    ],
    does: 'new 5→10, a 5→10',
  },
  // Pause
  {
    name: 'creates no new ReplicaSet while paused',
    deployment: { spec: { paused: true } },
    sets: [setOf('a', { size: 10 })],
    does: '',
  },
  {
    name: 'scales while paused',
    deployment: { spec: { paused: true, replicas: 3 } },
    sets: [setOf('a', { size: 10 })],
    does: 'a 10→3',
  },
  // Revision history
  {
    name: 'deletes old ReplicaSets above the limit, by revision',
    deployment: { status: complete, spec: { revisionHistoryLimit: 1 } },
    sets: [
      setOf('a', { size: 0, annotations: { [revision]: '7' } }),
      setOf('b', { size: 0 }),
      setOf('c', { size: 0 }),
      setOf('new', { size: 10 }),
    ],
    does: 'b ×, c ×',
  },
  {
    name: 'deletes old ReplicaSets while paused',
    deployment: { spec: { paused: true, revisionHistoryLimit: 0 } },
    sets: oldAndNew(0, 10),
    does: 'a ×',
  },
  {
    name: 'deletes no ReplicaSet with Pods or with a stale status',
    deployment: { status: complete, spec: { revisionHistoryLimit: 0 } },
    sets: [
      setOf('a', { size: 0, replicas: 1 }),
      { ...setOf('b', { size: 0 }), status: { replicas: 0, observedGeneration: 0 } },
      setOf('new', { size: 10 }),
    ],
    does: '',
  },
  {
    name: 'deletes no ReplicaSet during a rollout',
    deployment: { status: { ...complete, availableReplicas: 9 }, spec: { revisionHistoryLimit: 0 } },
    sets: oldAndNew(0, 10),
    does: '',
  },
  {
    name: 'deletes no ReplicaSet with the maximum limit',
    deployment: { status: complete, spec: { revisionHistoryLimit: 2147483647 } },
    sets: oldAndNew(0, 10),
    does: '',
  },
  // Terminating
  {
    name: 'does nothing while terminating',
    deployment: { deletionTimestamp: seconds(0) },
    sets: [setOf('a', { size: 10 })],
    does: '',
  },
  {
    name: 'refuses to select everything',
    deployment: { spec: { selector: {} } },
    sets: [],
    does: 'record SelectingAll',
  },
  // Rollback by annotation
  {
    name: 'rolls back to a revision',
    deployment: { annotations: { 'deprecated.deployment.rollback.to': '1' } },
    sets: oldAndNew(0, 10),
    does: 'update',
  },
  {
    name: 'rolls back to the previous revision',
    deployment: { annotations: { 'deprecated.deployment.rollback.to': '0' } },
    sets: oldAndNew(0, 10),
    does: 'update',
  },
  {
    name: 'reports that there is no previous revision',
    deployment: { annotations: { 'deprecated.deployment.rollback.to': '0' } },
    sets: [setOf('new', { size: 10 })],
    does: 'record DeploymentRollbackRevisionNotFound, update',
  },
  {
    name: 'reports that the revision does not exist',
    deployment: { annotations: { 'deprecated.deployment.rollback.to': '7' } },
    sets: oldAndNew(0, 10),
    does: 'record DeploymentRollbackRevisionNotFound, update',
  },
  {
    name: 'reports that it is already at the revision',
    deployment: { annotations: { 'deprecated.deployment.rollback.to': '9' } },
    sets: oldAndNew(0, 10),
    does: 'record DeploymentRollbackTemplateUnchanged, update',
  },
  {
    name: 'ignores an invalid revision',
    deployment: { annotations: { 'deprecated.deployment.rollback.to': 'x' } },
    sets: oldAndNew(0, 10),
    does: '',
  },
];
for (const { name, deployment, sets, pods, does } of rows) {
  test(`a Deployment ${name}`, () => {
    assert.equal(summary(decide(observed(deploymentOf(deployment), sets, pods), now).actions, sets), does);
  });
}

/** Returns the object of the only write. */
function written(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet {
  const [action] = decide(observed(deployment, sets), now).actions;
  assert.ok(action && 'object' in action);
  return action.object as ReplicaSet;
}

test('a new ReplicaSet has the hash in its name, labels, selector and template', () => {
  const deployment = deploymentOf({ spec: { minReadySeconds: 4 }, annotations: { note: 'x' } });
  const { metadata, spec } = written(deployment, [setOf('a', { size: 10 })]);
  const hash = metadata.labels?.['pod-template-hash'];
  assert.equal(metadata.name, `web-${hash}`);
  assert.deepEqual(metadata.labels, { app: 'web', 'pod-template-hash': hash });
  assert.deepEqual(metadata.annotations, { note: 'x', [revision]: '2', [desired]: '10', [maximum]: '13' });
  assert.deepEqual(metadata.ownerReferences, [controllerReference(deployment)]);
  assert.deepEqual(spec, {
    replicas: 3,
    minReadySeconds: 4,
    selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } },
    template: { ...templateOf('new'), metadata: { labels: { app: 'web', 'pod-template-hash': hash } } },
  });
});

test('every scaling emits an event', () => {
  const eventsOf = (sets: readonly ReplicaSet[], deployment?: Facts) =>
    decide(observed(deploymentOf(deployment), sets), now).actions.flatMap((action) =>
      'outcomeEvents' in action && action.outcomeEvents?.done ? [action.outcomeEvents.done] : [],
    );
  const [made] = eventsOf([]);
  assert.equal(made?.reason, 'ScalingReplicaSet');
  assert.match(made?.message ?? '', /^Scaled up replica set web-\w+ from 0 to 10$/);
  assert.deepEqual(eventsOf(oldAndNew(8, 3)), [
    { reason: 'ScalingReplicaSet', message: 'Scaled up replica set web-new from 3 to 5' },
  ]);
  assert.deepEqual(eventsOf(oldAndNew(8, 5)), [
    { reason: 'ScalingReplicaSet', message: 'Scaled down replica set web-a from 8 to 3' },
  ]);
});

test('a reused ReplicaSet records its previous revisions, up to a limit', () => {
  const former = Array.from({ length: 400 }, (_, index) => String(1000 + index)).join(',');
  const set = setOf('new', { size: 10, annotations: { [revision]: '1700', [history]: former } });
  const other = setOf('b', { size: 0, annotations: { [revision]: '1800' } });
  const { metadata } = written(deploymentOf(), [set, other]);
  assert.equal(metadata.annotations?.[revision], '1801');
  assert.equal(metadata.annotations?.[history], `${former.slice('1000,'.length)},1700`);
});

test('a hash collision is skipped and counted', () => {
  const deployment = deploymentOf();
  const taken = written(deployment, []);
  const foreignSet: ReplicaSet = {
    ...taken,
    metadata: { ...taken.metadata, uid: 'x', labels: {}, ownerReferences: [] },
  };
  const colliding = {
    ...observed(deployment, []),
    findReplicaSet: (name: string) => (name === taken.metadata.name ? foreignSet : undefined),
  };
  const { actions, status } = decide(colliding, now);
  const [action] = actions;
  assert.ok(action?.type === 'create' && action.object.metadata.name !== taken.metadata.name);
  assert.equal(typeof status === 'function' && status(wentWell)?.collisionCount, 1);
});

test('a rollback restores the template and the annotations', () => {
  const target = setOf('a', { size: 0, annotations: { 'kubernetes.io/change-cause': 'then' } });
  const deployment = deploymentOf({
    annotations: { 'deprecated.deployment.rollback.to': '1', 'kubernetes.io/change-cause': 'now', other: 'x' },
  });
  const { actions } = decide(
    observed(deployment, [
      target,
      setOf('new', { size: 10, annotations: { 'kubernetes.io/change-cause': 'now', other: 'x' } }),
    ]),
    now,
  );
  const [action] = actions;
  assert.ok(action?.type === 'update');
  assert.deepEqual(action.object.metadata.annotations, { [revision]: '9', 'kubernetes.io/change-cause': 'then' });
  assert.deepEqual((action.object as Deployment).spec?.template, templateOf('a'));
  assert.deepEqual(action.outcomeEvents?.done, {
    reason: 'DeploymentRollback',
    message: 'Rolled back deployment "web" to revision 1',
  });
});

// Status

const wentWell: Outcome = { failures: [], isStale: false, written: new Map() };

function statusOf(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  outcome: Partial<Outcome> = {},
): DeploymentStatus {
  const { status } = decide(observed(deployment, sets), now);
  return (typeof status === 'function' ? status({ ...wentWell, ...outcome }) : status) ?? {};
}

test('replica counts are those of all ReplicaSets', () => {
  const { conditions: _, ...counts } = statusOf(deploymentOf(), [
    setOf('a', { size: 8, replicas: 9, available: 7 }),
    setOf('new', { size: 5, available: 2 }),
  ]);
  assert.deepEqual(counts, {
    observedGeneration: 1,
    replicas: 14,
    updatedReplicas: 5,
    readyReplicas: 9,
    availableReplicas: 9,
    unavailableReplicas: 4,
  });
});

const condition = (type: string, status: string, reason: string, age: number, message = '') => ({
  type,
  status,
  reason,
  message,
  lastUpdateTime: seconds(-age),
  lastTransitionTime: seconds(-age),
});
const progressing = (status: string, reason: string, age: number) => [condition('Progressing', status, reason, age)];
const stuck = { ...complete, updatedReplicas: 5, replicas: 13, availableReplicas: 8, readyReplicas: 8 };

type ConditionRow = {
  readonly name: string;
  readonly deployment?: Facts;
  readonly sets: readonly ReplicaSet[];
  readonly outcome?: Partial<Outcome>;
  readonly type?: string;
  readonly is: string | undefined;
};
const failure = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }];
const conditionRows: readonly ConditionRow[] = [
  {
    name: 'enough Pods are available',
    sets: oldAndNew(5, 3),
    type: 'Available',
    is: 'True MinimumReplicasAvailable Deployment has minimum availability.',
  },
  {
    name: 'too few Pods are available',
    sets: oldAndNew(5, 2),
    type: 'Available',
    is: 'False MinimumReplicasUnavailable Deployment does not have minimum availability.',
  },
  {
    name: 'a ReplicaSet was found',
    sets: oldAndNew(10, 0),
    deployment: { status: { ...complete, replicas: 10, updatedReplicas: 0, readyReplicas: 10 } },
    is: 'True FoundNewReplicaSet Found new replica set "web-new"',
  },
  {
    name: 'a rollout progresses',
    sets: oldAndNew(8, 5, 1),
    deployment: {
      status: { ...stuck, updatedReplicas: 4, conditions: progressing('True', 'NewReplicaSetCreated', 500) },
    },
    is: 'True ReplicaSetUpdated ReplicaSet "web-new" is progressing.',
  },
  {
    name: 'a rollout is complete',
    sets: oldAndNew(0, 10),
    deployment: { status: { ...stuck, conditions: progressing('True', 'ReplicaSetUpdated', 5) } },
    is: 'True NewReplicaSetAvailable ReplicaSet "web-new" has successfully progressed.',
  },
  {
    name: 'a rollout exceeded its deadline',
    sets: oldAndNew(8, 5, 0),
    deployment: { status: { ...stuck, conditions: progressing('True', 'ReplicaSetUpdated', 601) } },
    is: 'False ProgressDeadlineExceeded ReplicaSet "web-new" has timed out progressing.',
  },
  {
    name: 'a rollout is within its deadline',
    sets: oldAndNew(8, 5, 0),
    deployment: { status: { ...stuck, conditions: progressing('True', 'ReplicaSetUpdated', 600) } },
    is: 'True ReplicaSetUpdated ',
  },
  {
    name: 'a rollout that exceeded its deadline progresses after all',
    sets: oldAndNew(8, 5, 1),
    deployment: { status: { ...stuck, conditions: progressing('False', 'ProgressDeadlineExceeded', 601) } },
    is: 'True ReplicaSetUpdated ReplicaSet "web-new" is progressing.',
  },
  {
    name: 'a completed rollout does not time out when Pods are lost',
    sets: oldAndNew(0, 10, 9),
    deployment: { status: { ...complete, conditions: progressing('True', 'NewReplicaSetAvailable', 9999) } },
    is: 'True NewReplicaSetAvailable ',
  },
  {
    name: 'no rollout is tracked without a deadline',
    sets: oldAndNew(8, 5),
    deployment: {
      spec: { progressDeadlineSeconds: 2147483647 },
      status: { conditions: progressing('True', 'ReplicaSetUpdated', 5) },
    },
    is: undefined,
  },
  {
    name: 'it is paused',
    sets: oldAndNew(8, 5),
    deployment: { spec: { paused: true }, status: { conditions: progressing('True', 'ReplicaSetUpdated', 5) } },
    is: 'Unknown DeploymentPaused Deployment is paused',
  },
  {
    name: 'it is resumed',
    sets: oldAndNew(8, 5, 0),
    deployment: { status: { ...stuck, conditions: progressing('Unknown', 'DeploymentPaused', 9999) } },
    is: 'Unknown DeploymentResumed Deployment is resumed',
  },
  {
    name: 'a pause does not hide an exceeded deadline',
    sets: oldAndNew(8, 5),
    deployment: { spec: { paused: true }, status: { conditions: progressing('False', 'ProgressDeadlineExceeded', 5) } },
    is: 'False ProgressDeadlineExceeded ',
  },
  {
    name: 'a ReplicaSet was created',
    sets: [setOf('a', { size: 10 })],
    deployment: {
      status: {
        ...complete,
        updatedReplicas: 0,
        readyReplicas: 10,
        conditions: progressing('True', 'NewReplicaSetAvailable', 99),
      },
    },
    is: 'True NewReplicaSetCreated Created new replica set "web-',
  },
  {
    name: 'a ReplicaSet cannot create its Pods',
    sets: [
      setOf('a', { size: 8, conditions: [{ ...failure[0]!, message: 'old' }] }),
      setOf('new', { size: 5, conditions: failure }),
    ],
    type: 'ReplicaFailure',
    is: 'True FailedCreate quota',
  },
  {
    name: 'an old ReplicaSet cannot create its Pods',
    sets: [setOf('a', { size: 8, conditions: failure }), setOf('new', { size: 5 })],
    type: 'ReplicaFailure',
    is: 'True FailedCreate quota',
  },
  {
    name: 'no ReplicaSet has failures any more',
    sets: oldAndNew(8, 5),
    deployment: { status: { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 5)] } },
    type: 'ReplicaFailure',
    is: undefined,
  },
];
for (const { name, deployment, sets, type = 'Progressing', is, outcome } of conditionRows) {
  test(`a Deployment reports that ${name}`, () => {
    const found = statusOf(deploymentOf(deployment), sets, outcome).conditions?.find((each) => each.type === type);
    const text = found && `${found.status} ${found.reason} ${found.message}`;
    assert.equal(is?.endsWith('"web-') ? text?.slice(0, is.length) : text, is);
  });
}

test('a Deployment reports why its ReplicaSet could not be created, and nothing else', () => {
  const deployment = deploymentOf({ status: complete });
  const [action] = decide(observed(deployment, []), now).actions as [Action];
  const status = statusOf(deployment, [], { failures: [{ action, error: new Error('no room') }] });
  const { conditions, ...counts } = status;
  assert.deepEqual(counts, complete);
  assert.match(
    `${conditions?.[0]?.reason} ${conditions?.[0]?.message}`,
    /^ReplicaSetCreateError Failed to create new replica set "web-\w+": no room$/,
  );
});

test('a repeated failure does not update the condition', () => {
  const conditions = progressing('False', 'ReplicaSetCreateError', 500);
  const deployment = deploymentOf({ status: { ...complete, conditions } });
  const [action] = decide(observed(deployment, []), now).actions as [Action];
  const status = statusOf(deployment, [], { failures: [{ action, error: new Error('again') }] });
  assert.deepEqual(status, deployment.status);
});

test('a paused Deployment has no deadline', () => {
  const status = { ...stuck, conditions: progressing('Unknown', 'DeploymentPaused', 9999) };
  const { requeueAfterSeconds } = decide(
    observed(deploymentOf({ spec: { paused: true }, status }), oldAndNew(8, 5, 0)),
    now,
  );
  assert.equal(requeueAfterSeconds, undefined);
});

test('progress moves the deadline, and changes nothing else in the condition', () => {
  const conditions = progressing('True', 'ReplicaSetUpdated', 500);
  const deployment = deploymentOf({ status: { ...stuck, updatedReplicas: 4, conditions } });
  const found = statusOf(deployment, oldAndNew(8, 5, 1)).conditions?.find(({ type }) => type === 'Progressing');
  assert.equal(found?.lastUpdateTime, seconds(0));
  assert.equal(found?.lastTransitionTime, seconds(-500));
});

test('a rollout is requeued one second after its deadline', () => {
  const waiting = (age: number, reason = 'ReplicaSetUpdated') =>
    decide(
      observed(
        deploymentOf({ status: { ...stuck, conditions: progressing('True', reason, age) } }),
        oldAndNew(8, 5, 0),
      ),
      now,
    ).requeueAfterSeconds;
  assert.equal(waiting(500), 101);
  assert.equal(waiting(600), 1);
  assert.equal(
    decide(observed(deploymentOf({ status: complete }), oldAndNew(0, 10)), now).requeueAfterSeconds,
    undefined,
  );
});

// Properties

const budget = fc.oneof(
  fc.nat(5),
  fc.nat(100).map((percent) => `${percent}%`),
);
const world = fc.record({
  replicas: fc.nat(20),
  maxSurge: budget,
  maxUnavailable: budget,
  sizes: fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { minLength: 1, maxLength: 4 }),
});
const images = ['new', 'a', 'b', 'c'];

/** Executes actions on the sizes and availability of ReplicaSets. */
function carryOut(sets: readonly ReplicaSet[], actions: readonly Action[]): readonly ReplicaSet[] {
  const changed = new Map(
    actions.flatMap((action) =>
      action.type === 'update' && action.object.kind === 'ReplicaSet'
        ? [[action.object.metadata.uid, action.object as ReplicaSet]]
        : [],
    ),
  );
  const made = actions.flatMap((action) =>
    action.type === 'create'
      ? [
          {
            ...action.object,
            metadata: { ...action.object.metadata, uid: 'made', creationTimestamp: seconds(0) },
            status: { replicas: 0 },
          } as ReplicaSet,
        ]
      : [],
  );
  return [...sets.map((set) => changed.get(set.metadata.uid) ?? set), ...made];
}

/** Returns a ReplicaSet after its controller has finished and all its Pods are available. */
function settled(set: ReplicaSet): ReplicaSet {
  const size = set.spec?.replicas ?? 0;
  return { ...set, status: { ...set.status, replicas: size, readyReplicas: size, availableReplicas: size } };
}

test('no step violates the budget, and the rollout terminates', () => {
  fc.assert(
    fc.property(world, ({ replicas, maxSurge, maxUnavailable, sizes }) => {
      const spec = { replicas, strategy: rolling(maxSurge, maxUnavailable) };
      const sizeAnnotations = [replicas, 99] as const;
      let sets: readonly ReplicaSet[] = sizes.map(([size, available], index) =>
        setOf(images[index]!, { size, available, sizeAnnotations }),
      );
      const total = (of: readonly ReplicaSet[]) => of.reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0);
      const available = (of: readonly ReplicaSet[]) =>
        of.reduce((sum, set) => sum + Math.min(set.spec?.replicas ?? 0, set.status?.availableReplicas ?? 0), 0);
      const surge =
        typeof maxSurge === 'number' ? maxSurge : Math.ceil((Number.parseInt(maxSurge, 10) * replicas) / 100);
      const down =
        typeof maxUnavailable === 'number'
          ? maxUnavailable
          : Math.floor((Number.parseInt(maxUnavailable, 10) * replicas) / 100);
      const least = replicas - Math.min(replicas, surge === 0 && down === 0 ? 1 : down);
      for (let step = 0; ; step++) {
        assert.ok(step < 100, 'the rollout terminates');
        const actions = flattenSteps(decide(observed(deploymentOf({ spec }), sets), now).actions);
        const next = carryOut(sets, actions);
        assert.ok(total(next) <= Math.max(total(sets), replicas + surge), 'too many Pods');
        assert.ok(available(next) >= Math.min(available(sets), least), 'too few Pods');
        const isSettled = sets.every(({ spec: each, status }) => each?.replicas === status?.availableReplicas);
        if (actions.length === 0 && isSettled) break;
        sets = next.map(settled);
      }
      const sizesByName = Object.fromEntries(sets.map((set) => [set.metadata.name, set.spec?.replicas]));
      for (const [name, size] of Object.entries(sizesByName)) assert.equal(size, name === 'web-new' ? replicas : 0);
    }),
  );
});

test('proportional scaling distributes exactly what is allowed, and terminates', () => {
  fc.assert(
    fc.property(world, fc.nat(3), ({ replicas, sizes }, unused) => {
      const whole = sizes.reduce((sum, [size]) => sum + size, unused);
      let sets: readonly ReplicaSet[] = sizes.map(([size], index) =>
        setOf(images[index]!, { size, available: 0, sizeAnnotations: [whole, whole] }),
      );
      const deployment = deploymentOf({ spec: { replicas, strategy: rolling(2, 1), paused: true } });
      for (let pass = 0; ; pass++) {
        assert.ok(pass < 3, 'the rollout terminates');
        const actions = flattenSteps(decide(observed(deployment, sets), now).actions);
        if (actions.length === 0) break;
        // A single ReplicaSet has no surge, because there is nothing to replace.
        const isAlone = sets.filter(({ spec }) => (spec?.replicas ?? 0) > 0).length < 2;
        sets = carryOut(sets, actions);
        const total = sets.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
        assert.equal(total, isAlone || replicas === 0 ? replicas : replicas + 2);
      }
    }),
  );
});
