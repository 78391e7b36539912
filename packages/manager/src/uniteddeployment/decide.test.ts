import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { Subset, UnitedDeployment, UnitedDeploymentStatus } from '@kruise/api/kruise/uniteddeployment';
import { type Action, type CreateAction, flattenSteps, type RemoveAction } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import type { KubernetesObject } from '@kruise/client/object-key';
import fc from 'fast-check';
import { carryOut, type Objects, objectsOf } from '../testing/world.ts';
import { decide, type Observed } from './decide.ts';
import {
  ago,
  cloneSets,
  deploymentOf,
  findWorkloadType,
  now,
  podOf,
  podTemplate,
  templateFor,
  type WorkloadOptions,
  workloadOf,
} from './fixtures.ts';
import { planRevisions } from './revisions.ts';
import { type Workload, type WorkloadType, workloadTypeOf, workloadTypes } from './workload-types.ts';

type World = Partial<Omit<Observed, 'owner' | 'podsOf'>> & {
  /** Pods by the name of their workload. */
  readonly pods?: { readonly [workload: string]: readonly Pod[] };
};

function decided(owner: UnitedDeployment, { pods = {}, revisions = [], ...world }: World = {}, failures = 0) {
  const observed: Observed = {
    owner,
    revisions,
    findRevision: (name) => revisions.find(({ metadata }) => metadata.name === name),
    workloads: [],
    workloadsOfOtherTypes: [],
    podsOf: ({ metadata }) => pods[metadata.name ?? ''] ?? [],
    ...world,
  };
  const decision = decide(observed, now);
  const actions = flattenSteps(decision.actions);
  const failed = actions.slice(0, failures).map((action) => ({ action, error: new Error('no') }));
  const outcome: Outcome = { failures: failed, isStale: false, written: new Map() };
  const { status } = decision;
  return {
    ...decision,
    actions,
    does: actions.map(inWords),
    status: (typeof status === 'function' ? status(outcome) : status) as UnitedDeploymentStatus | undefined,
  };
}

function inWords(action: Action): string {
  if (action.type === 'record') return `event ${action.event.reason}: ${action.event.message}`;
  if (action.type === 'effect') return action.name;
  const { kind, metadata, spec } = action.object as Workload;
  if (kind === 'ControllerRevision' || kind === 'Pod' || action.type === 'remove') {
    return `${action.type} ${kind} ${metadata.name}`;
  }
  const partition = spec?.updateStrategy?.rollingUpdate?.partition;
  const subset = metadata.labels?.['apps.kruise.io/subset-name'];
  const note = partition === undefined ? '' : ` with partition ${partition}`;
  return spec
    ? `${action.type} ${kind} ${subset} of ${spec.replicas}${note}`
    : `${action.type} ${kind} ${metadata.name}`;
}

/** Returns the stored revision of a template. */
function revisionFor(owner: UnitedDeployment, revision = 1): ControllerRevision {
  const none = { revisions: [], findRevision: () => undefined };
  const [creation] = planRevisions(owner, workloadTypeOf(owner.spec.template)!, none).actions;
  return { ...((creation as CreateAction).object as ControllerRevision), revision };
}

const nameOf = ({ metadata }: KubernetesObject) => metadata.name ?? '';

/** Builds a UnitedDeployment with up-to-date workloads, and its observed state. */
function settled(
  spec: Partial<UnitedDeployment['spec']> = {},
  options: { readonly [subset: string]: WorkloadOptions } = {},
) {
  const owner = deploymentOf(spec);
  const workloadType = workloadTypeOf(owner.spec.template)!;
  const revision = revisionFor(owner);
  const updated = nameOf(revision);
  const known = { currentRevision: updated, updatedRevision: updated };
  const subsets = owner.spec.topology?.subsets ?? [];
  const workloads = subsets.map(({ name }) => workloadOf(workloadType, name, { revision: updated, ...options[name] }));
  const pods = Object.fromEntries(
    workloads.map((workload) => {
      const { replicas = 0, readyReplicas = 0 } = workload.status ?? {};
      const of = (index: number) =>
        podOf(`${nameOf(workload)}-${index}`, { revision: updated, ...(index < readyReplicas ? { ready: 60 } : {}) });
      return [nameOf(workload), Array.from({ length: replicas }, (_, index) => of(index))];
    }),
  );
  return { owner: deploymentOf(spec, known), updated, world: { revisions: [revision], workloads, pods } };
}

for (const workloadType of workloadTypes) {
  test(`a UnitedDeployment creates a ${workloadType.name} for each subset`, () => {
    const owner = deploymentOf({ template: templateFor(workloadType) });
    const { does, status } = decided(owner);
    const note = workloadType.name === 'Deployment' ? '' : ' with partition 0';
    assert.deepEqual(does, [
      `create ControllerRevision ${nameOf(revisionFor(owner))}`,
      `create ${workloadType.kind.kind} a of 2${note}`,
      `create ${workloadType.kind.kind} b of 2${note}`,
      `event SuccessfulUpdateSubset: Create 2 Subset (${workloadType.name})`,
    ]);
    assert.deepEqual(
      status?.conditions?.map(({ type, status: state }) => [type, state]),
      [
        ['UnitedDeploymentUpdated', 'True'],
        ['SubsetProvisioned', 'True'],
        ['SubsetUpdated', 'True'],
      ],
    );
    assert.deepEqual(status?.subsetStatuses, [{ name: 'a' }, { name: 'b' }]);
  });
}

test('an up-to-date UnitedDeployment needs no action, and counts its Pods', () => {
  const { owner, world, updated } = settled();
  const { does, status } = decided(owner, world);
  assert.deepEqual(does, []);
  assert.deepEqual(status, {
    observedGeneration: 1,
    replicas: 4,
    readyReplicas: 4,
    updatedReplicas: 4,
    updatedReadyReplicas: 4,
    currentRevision: updated,
    updatedRevision: updated,
    labelSelector: 'app=web',
    subsetStatuses: [
      { name: 'a', replicas: 2, readyReplicas: 2 },
      { name: 'b', replicas: 2, readyReplicas: 2 },
    ],
    conditions: [
      {
        type: 'UnitedDeploymentUpdated',
        status: 'True',
        lastTransitionTime: ago(0),
        reason: 'UnitedDeploymentRevisionUpdated',
        message: `updated to revision ${updated}`,
      },
      { type: 'SubsetUpdated', status: 'True', lastTransitionTime: ago(0) },
    ],
  });
  const known = { ...owner, status: status! };
  assert.deepEqual(decided(known, world).status, status);
});

const subsetsOf = (...subsets: readonly Subset[]) => ({ topology: { subsets } });
const partitions = (of: { readonly [subset: string]: number }) =>
  ({ updateStrategy: { type: 'Manual', manualUpdate: { partitions: of } } }) as const;

const changes: readonly {
  readonly is: string;
  readonly before?: Partial<UnitedDeployment['spec']>;
  readonly after: Partial<UnitedDeployment['spec']>;
  readonly does: readonly string[];
}[] = [
  {
    is: 'new replicas are allocated again',
    after: { replicas: 7 },
    does: ['update CloneSet a of 3 with partition 0', 'update CloneSet b of 4 with partition 0'],
  },
  {
    is: 'only changed subsets are written',
    after: { replicas: 5 },
    does: ['update CloneSet b of 3 with partition 0'],
  },
  {
    is: 'a partition is at most the replicas',
    after: partitions({ a: 9, b: 1 }),
    does: ['update CloneSet a of 2 with partition 2', 'update CloneSet b of 2 with partition 1'],
  },
  {
    is: 'a changed patch is applied',
    after: subsetsOf({ name: 'a', patch: { metadata: { labels: { x: 'y' } } } }, { name: 'b' }),
    does: ['update CloneSet a of 2 with partition 0'],
  },
  {
    is: 'a new subset is created before the others change',
    after: subsetsOf({ name: 'a' }, { name: 'b' }, { name: 'c', replicas: 2 }),
    does: [
      'create CloneSet c of 2 with partition 0',
      'event SuccessfulUpdateSubset: Create 1 Subset (CloneSet)',
      'update CloneSet a of 1 with partition 0',
      'update CloneSet b of 1 with partition 0',
    ],
  },
  {
    is: 'the workload of a removed subset is deleted',
    after: subsetsOf({ name: 'b' }),
    does: ['remove CloneSet web-a-x', 'update CloneSet b of 4 with partition 0'],
  },
];
for (const { is, before, after, does } of changes) {
  test(is, () => {
    const { owner, world } = settled(before);
    const changed = { ...owner, spec: { ...owner.spec, ...after } };
    assert.deepEqual(decided(changed, world).does, does);
  });
}

test('a new template reaches every subset, and is reported until every Pod is updated', () => {
  const { owner, world, updated } = settled();
  const template = templateFor(cloneSets, { template: { ...podTemplate, spec: { containers: [] } } });
  const changed = { ...owner, spec: { ...owner.spec, template } };
  const revision = nameOf(revisionFor(changed));
  const { does, status } = decided(changed, world);
  assert.deepEqual(does, [
    `create ControllerRevision ${revision}`,
    'update CloneSet a of 2 with partition 0',
    'update CloneSet b of 2 with partition 0',
  ]);
  assert.deepEqual([status?.currentRevision, status?.updatedRevision, status?.updatedReplicas], [updated, revision, 0]);
  const events = status?.conditions?.find(({ type }) => type === 'UnitedDeploymentUpdated');
  assert.deepEqual([events?.status, events?.reason], ['False', 'UnitedDeploymentRevisionUpdating']);
});

test('a workload is written repeatedly while its Pods are updated', () => {
  const { owner, world } = settled();
  const pods = {
    ...world.pods,
    'web-a-x': [podOf('p', { revision: 'old', ready: 9 }), ...world.pods['web-a-x']!.slice(1)],
  };
  const { does, status } = decided(owner, { ...world, pods });
  assert.deepEqual(does, ['update CloneSet a of 2 with partition 0']);
  assert.deepEqual([status?.updatedReplicas, status?.updatedReadyReplicas], [3, 3]);
});

test('an update is not complete while a partition keeps a Pod, even if the workload counts too few for a moment', () => {
  const { owner, world, updated } = settled();
  const [first, second] = world.workloads as [Workload, Workload];
  const workloads = [{ ...first, status: { replicas: 1, readyReplicas: 1 } }, second];
  const kept = [...world.pods['web-a-x']!.slice(1), podOf('kept', { revision: 'old', ready: 9 })];
  const pods = { ...world.pods, 'web-a-x': kept };
  const rolling = { ...owner, status: { ...owner.status!, currentRevision: 'old' } };
  const { status } = decided(rolling, { ...world, workloads, pods });
  assert.deepEqual([status?.replicas, status?.updatedReadyReplicas], [3, 3]);
  assert.deepEqual([status?.currentRevision, status?.updatedRevision], ['old', updated]);
});

test('terminating Pods are not counted as updated', () => {
  const { owner, world, updated } = settled();
  const pods = { ...world.pods, 'web-a-x': [podOf('p', { revision: updated, ready: 9, isTerminating: true })] };
  assert.equal(decided(owner, { ...world, pods }).status?.updatedReplicas, 2);
});

test('the older of two workloads of one subset stays', () => {
  const { owner, world, updated } = settled();
  const made = (name: string, age: number): Workload => {
    const workload = workloadOf(cloneSets, 'a', { revision: updated, name });
    return { ...workload, metadata: { ...workload.metadata, creationTimestamp: ago(age) } };
  };
  const workloads = [made('young', 10), made('old', 20), world.workloads[1]!];
  const pods = { ...world.pods, old: world.pods['web-a-x']! };
  const { does, actions } = decided(owner, { ...world, workloads, pods });
  assert.deepEqual(does, ['remove CloneSet young']);
  assert.deepEqual((actions[0] as RemoveAction).options, { propagationPolicy: 'Background' });
});

test('an orphaned workload is adopted if it has a subset name, and ignored otherwise', () => {
  const { owner, world, updated } = settled();
  const [first, second] = world.workloads as [Workload, Workload];
  const orphan = workloadOf(cloneSets, 'a', { revision: updated, isOwned: false });
  const { labels: _, ...metadata } = workloadOf(cloneSets, 'x', { isOwned: false, name: 'stranger' }).metadata;
  const stranger = { ...first, metadata: { ...metadata, labels: { app: 'web' } } };
  const { does } = decided(owner, { ...world, workloads: [orphan, second, stranger] });
  assert.deepEqual(does, ['patch CloneSet a of 2 with partition 0']);
});

test('an own workload without a subset name records an event, and nothing is done', () => {
  const { owner, world } = settled();
  const [first, second] = world.workloads as [Workload, Workload];
  const lost = { ...first, metadata: { ...first.metadata, labels: { app: 'web' } } };
  const { does, status } = decided(owner, { ...world, workloads: [lost, second] });
  const fault =
    'fail to get subSet name from label of subset default/web-a-x: no label apps.kruise.io/subset-name found';
  assert.deepEqual(does, [
    `event FailedFindSubsets: ${fault}`,
    `event Failed FindSubsets: fail to get all Subsets for UnitedDeployment default/web: ${fault}`,
  ]);
  assert.equal(status, undefined);
});

test('workloads of another type are deleted', () => {
  const { owner, world } = settled();
  const workloadsOfOtherTypes = [workloadOf(findWorkloadType('Deployment'), 'a', { name: 'former' })];
  const { does, status } = decided(owner, { ...world, workloadsOfOtherTypes });
  assert.deepEqual(does, ['remove Deployment former']);
  assert.ok(status?.conditions?.some(({ type }) => type === 'SubsetProvisioned'));
});

test('an invalid patch records an event, and no status is written', () => {
  const { owner, world } = settled();
  const patch = { spec: { containers: 'x' } } as never;
  const topology = { subsets: [{ name: 'a', patch }, { name: 'b' }] };
  const changed = { ...owner, spec: { ...owner.spec, topology } };
  const { does, status } = decided(changed, world);
  assert.match(does.join(), /^event FailedUpdateSubset: Error updating PodSet \(CloneSet\) web-a-x when updating: /);
  assert.equal(status, undefined);
  const made = decided(deploymentOf({ topology }), { revisions: world.revisions });
  assert.match(
    made.does[0]!,
    /^event FailedUpdateSubset: fail to manage Subset provision: fail to create Subset \(CloneSet\) a: /,
  );
  assert.equal(made.status, undefined);
});

test('failed writes are not reported as done', () => {
  const { owner, world } = settled({ replicas: 6 });
  assert.equal(decided(owner, world, 1).status, undefined);
});

test('an impossible allocation records an event, and nothing else is done', () => {
  const { owner, world } = settled();
  const changed = { ...owner, spec: { ...owner.spec, ...subsetsOf({ name: 'a', replicas: 9 }, { name: 'b' }) } };
  const fault = "specified subsets' replica (9) is greater than UnitedDeployment replica (4)";
  const { does, status } = decided(changed, world);
  assert.deepEqual(does, [`event Failed SpecifySubsetReplicas: Specified subset replicas is ineffective: ${fault}`]);
  assert.equal(status, undefined);
});

test('a UnitedDeployment that is terminating, or without a template, is ignored', () => {
  const owner = deploymentOf();
  const leaving = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: ago(1) } };
  assert.deepEqual(decided(leaving).does, []);
  assert.deepEqual(decided(deploymentOf({ template: {} })).does, []);
});

test('an existing workload of an unknown subset is deleted', () => {
  const { owner, world, updated } = settled();
  const adaptive = { ...owner.spec.topology, scheduleStrategy: { type: 'Adaptive' as const } };
  const changed = { ...owner, spec: { ...owner.spec, topology: adaptive } };
  const workloads = [...world.workloads, workloadOf(cloneSets, 'z', { revision: updated })];
  const { does, status } = decided(changed, { ...world, workloads });
  assert.ok(does.includes('remove CloneSet web-z-x'));
  assert.deepEqual(
    status?.subsetStatuses?.map(({ name }) => name),
    ['a', 'b'],
  );
});

test('the status of a removed subset stays, without Pods', () => {
  const { owner, world, updated } = settled();
  const gone = { name: 'z', replicas: 2, readyReplicas: 2, partition: 1 };
  const former = { ...owner, status: { ...owner.status!, subsetStatuses: [gone] } };
  const workloads = [...world.workloads, workloadOf(cloneSets, 'z', { revision: updated, readyReplicas: 1 })];
  const [first, ...others] = decided(former, { ...world, workloads }).status!.subsetStatuses!;
  assert.deepEqual(first, { name: 'z', readyReplicas: 1 });
  assert.deepEqual(
    others.map(({ name }) => name),
    ['a', 'b'],
  );
});

const numbered = (workloadType: WorkloadType, partition: number, type?: string) => {
  const template = templateFor(workloadType, type ? { updateStrategy: { type } } : {});
  const { owner, world, updated } = settled({ template, ...partitions({ a: partition }) }, { a: { replicas: 4 } });
  const pods = [
    podOf('web-a-x-0', { revision: 'old' }),
    podOf('web-a-x-1', { revision: 'old', ready: 5 }),
    podOf('web-a-x-2', { revision: 'old' }),
    podOf('web-a-x-3', { revision: updated }),
  ];
  return { owner, world: { ...world, pods: { ...world.pods, 'web-a-x': pods } } };
};

test("Pods that would block the update of Kubernetes' StatefulSet are deleted", () => {
  const { owner, world } = numbered(findWorkloadType('StatefulSet'), 1);
  const removed = decided(owner, world).does.filter((each) => each.startsWith('remove'));
  assert.deepEqual(removed, ['remove Pod web-a-x-2']);
  const others = [
    numbered(findWorkloadType('AdvancedStatefulSet'), 1),
    numbered(findWorkloadType('StatefulSet'), 1, 'OnDelete'),
  ];
  for (const each of others) {
    const workloads = each.world.workloads.map((workload) => ({
      ...workload,
      spec: { ...workload.spec, ...(each === others[1] ? { updateStrategy: { type: 'OnDelete' } } : {}) },
    }));
    const { does } = decided(each.owner, { ...each.world, workloads });
    assert.deepEqual(
      does.filter((one) => one.startsWith('remove')),
      [],
    );
  }
});

test('with OnDelete the partition is the number of outdated Pods', () => {
  const workloadType = findWorkloadType('StatefulSet');
  const pods = [podOf('a', { revision: 'old' }), podOf('b', { revision: 'web-1' })];
  assert.equal(
    workloadType.partitionOf(workloadOf(workloadType, 'a', { type: 'OnDelete', revision: 'web-1' }), pods),
    1,
  );
});

test('the partition of a CloneSet may be a percentage', () => {
  const workload = workloadOf(cloneSets, 'a', { replicas: 3 });
  const spec = { ...workload.spec, updateStrategy: { rollingUpdate: { partition: '50%' } } };
  assert.equal(cloneSets.partitionOf({ ...workload, spec }, []), 2);
});

test('revisions beyond the limit are pruned, except for those in use', () => {
  const { owner, world, updated } = settled({ revisionHistoryLimit: 2 });
  const [own] = world.revisions as [ControllerRevision];
  const old = (name: string, revision: number): ControllerRevision => ({
    ...own,
    metadata: { ...own.metadata, name },
    data: { name },
    revision,
  });
  const revisions = [old('r1', 1), old('r2', 2), old('r3', 3), { ...own, revision: 4 }];
  assert.deepEqual(decided(owner, { ...world, revisions }).does, [
    'remove ControllerRevision r1',
    'remove ControllerRevision r2',
  ]);
  const rolling = { ...owner, status: { ...owner.status!, currentRevision: 'r1' } };
  const { does, status } = decided(rolling, { ...world, revisions, pods: {} });
  assert.ok(does.includes('remove ControllerRevision r2') && !does.includes('remove ControllerRevision r1'));
  assert.deepEqual([status?.currentRevision, status?.updatedRevision], ['r1', updated]);
});

test('a rollback reuses the revision of the template', () => {
  const { owner, world, updated } = settled({ template: templateFor(findWorkloadType('Deployment')) });
  const [own] = world.revisions as [ControllerRevision];
  const later = { ...own, metadata: { ...own.metadata, name: 'later' }, data: { later: true }, revision: 2 };
  const { does, actions } = decided(owner, { ...world, revisions: [own, later] });
  assert.deepEqual(does, [`patch ControllerRevision ${updated}`]);
  assert.deepEqual((actions[0] as { patch?: unknown }).patch, { revision: 3 });
});

const reserving = {
  type: 'Adaptive',
  adaptive: { reserveUnschedulablePods: true, rescheduleCriticalSeconds: 10, unschedulableDuration: 30 },
} as const;

/** Builds subset `a` with a running Pod and an unschedulable Pod. */
function waiting(spec: Partial<UnitedDeployment['spec']> = {}) {
  const topology = { subsets: [{ name: 'a', maxReplicas: 2 }, { name: 'b' }], scheduleStrategy: reserving };
  const { owner, world, updated } = settled({ topology, ...spec }, { a: { readyReplicas: 1 } });
  const pods = {
    'web-a-x': [
      podOf('p0', { revision: updated, ready: 60, mark: 'false' }),
      podOf('p1', { revision: updated, age: 60, isPending: true, mark: 'false' }),
    ],
    'web-b-x': world.pods['web-b-x']!.map((pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        labels: { ...pod.metadata.labels, 'apps.kruise.io/united-deployment-reserved-pod': 'false' },
      },
    })),
  };
  return { owner, updated, world: { ...world, pods } };
}

test('an unschedulable Pod is labelled as reserved, gets a replacement, and is not counted', () => {
  const { owner, world } = waiting();
  const { does, status, requeueAfterSeconds } = decided(owner, world);
  assert.deepEqual(does, ['patch Pod p1', 'update CloneSet b of 3 with partition 0']);
  assert.deepEqual([status?.replicas, status?.reservedPods, requeueAfterSeconds], [3, 1, 30]);
  assert.equal(status?.labelSelector, 'app=web,apps.kruise.io/united-deployment-reserved-pod=false');
  const [first] = status?.subsetStatuses ?? [];
  assert.equal(first?.reservedPods, 1);
  assert.deepEqual(first?.conditions, [
    {
      type: 'Schedulable',
      status: 'False',
      lastTransitionTime: ago(0),
      reason: 'reschedule',
      message: 'reserved pods found',
    },
  ]);
});

test('reserved Pods do not block an update', () => {
  const { owner, world, updated } = waiting();
  const [running, waits] = [
    podOf('p0', { revision: updated, ready: 60, mark: 'false' }),
    podOf('p1', { revision: updated, age: 60, isPending: true, mark: 'true' }),
  ];
  const template = templateFor(cloneSets, { minReadySeconds: 1 });
  const pods = { ...world.pods, 'web-a-x': [running, waits] };
  const { actions } = decided({ ...owner, spec: { ...owner.spec, template } }, { ...world, pods });
  const update = actions.find(({ type }) => type === 'update') as CreateAction;
  const { rollingUpdate } = (update.object as Workload).spec?.updateStrategy ?? {};
  // Pods that are not ready; none has exceeded the update timeout yet.
  assert.equal(rollingUpdate?.maxUnavailable, 1);
});

test('a recovered subset that scales out is not proven yet', () => {
  const { owner, world } = waiting({ replicas: 6 });
  const condition = { type: 'Schedulable', status: 'False', reason: 'reschedule', message: 'x' } as const;
  const events = [{ name: 'b', conditions: [{ ...condition, lastTransitionTime: ago(5) }] }];
  const { status, does } = decided({ ...owner, status: { ...owner.status!, subsetStatuses: events } }, world);
  assert.ok(does.includes('update CloneSet b of 5 with partition 0'));
  const [second] = status?.subsetStatuses ?? [];
  assert.deepEqual(second?.conditions, [
    { ...condition, lastTransitionTime: ago(0), message: 'subset just recovered scaled up' },
  ]);
});

test('a subset that joins others is not proven yet', () => {
  const topology = { subsets: [{ name: 'a' }, { name: 'b' }], scheduleStrategy: reserving };
  const of = (status?: Partial<UnitedDeploymentStatus>) =>
    decided(deploymentOf({ topology }, status)).status?.subsetStatuses?.map(({ name, conditions = [] }) => [
      name,
      ...conditions.map(({ status: state, reason, message }) => `${state} ${reason} ${message}`),
    ]);
  assert.deepEqual(of(), [['a'], ['b']]);
  assert.deepEqual(of({ subsetStatuses: [{ name: 'a' }] }), [
    ['a'],
    ['b', 'False created newly-created subsets in reservation strategy'],
  ]);
});

test('new subsets are requeued for the pending timeout', () => {
  const topology = { subsets: [{ name: 'a' }], scheduleStrategy: { type: 'Adaptive' } } as const;
  assert.equal(decided(deploymentOf({ topology })).requeueAfterSeconds, 30);
  assert.equal(decided(deploymentOf()).requeueAfterSeconds, undefined);
});

const anyName = fc.constantFrom('a', 'b', 'c', 'd');
const anySpec = fc.record({
  replicas: fc.nat(20),
  names: fc.uniqueArray(anyName, { minLength: 1 }),
  partitions: fc.dictionary(anyName, fc.nat(5)),
  workloadType: fc.constantFrom(...workloadTypes),
});

test('from any state, the decisions converge', () => {
  fc.assert(
    fc.property(fc.array(anySpec, { minLength: 1, maxLength: 4 }), (specs) => {
      const objects: Objects = new Map();
      for (const { replicas, names, partitions: kept, workloadType } of specs) {
        const owner = deploymentOf({
          replicas,
          template: templateFor(workloadType),
          ...partitions(kept),
          topology: { subsets: names.map((name) => ({ name })) },
        });
        const look = () => {
          const of = (each: WorkloadType) =>
            objectsOf<Workload>(objects, each.kind.kind).filter(
              ({ apiVersion }) => apiVersion === workloadOf(each, 'x').apiVersion,
            );
          const revisions = objectsOf<ControllerRevision>(objects, 'ControllerRevision');
          const workloadsOfOtherTypes = workloadTypes.filter((each) => each !== workloadType).flatMap(of);
          return decided(owner, { revisions, workloads: of(workloadType), workloadsOfOtherTypes });
        };
        const isRecorded = ({ type }: Action) => type === 'record';
        carryOut(objects, look().actions, now);
        assert.deepEqual(
          look().actions.filter((action) => !isRecorded(action)),
          [],
        );
        const total = [...objects.values()]
          .filter(({ kind }) => kind === workloadType.kind.kind)
          .reduce((sum, workload) => sum + ((workload as Workload).spec?.replicas ?? 0), 0);
        assert.equal(total, replicas);
      }
    }),
    { numRuns: 60 },
  );
});
