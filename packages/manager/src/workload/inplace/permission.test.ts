import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { patch } from '@kruise/client/actions';
import { createRefusals, type Refusals } from '@kruise/client/refusals';
import { forbidden, internalError, invalid } from '@kruise/machinery/status';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { allFeatureGates, featureGates } from '../../configuration/feature-gates.ts';
import { managerSettings } from '../../configuration/settings.ts';
import { literalLabels } from '../revision/pod-revision.ts';
import { now, podOf } from './fixtures.ts';
import { batchId, type Permissions, type PodUpdatePolicy, permissionsBy } from './permission.ts';
import { formatGrace, formatState, noChanges, type UpdateSpec } from './state.ts';
import { refreshUpdate, startUpdate } from './update.ts';

const settings = managerSettings({ gates: featureGates(allFeatureGates) });
const denied = forbidden({ group: '', plural: 'pods' }, 'web', 'denied image');
const wrong = invalid({ group: '', kind: 'Pod' }, 'web', [
  { reason: 'FieldValueForbidden', field: 'spec', message: 'Forbidden: may not be decreased' },
]);
const toV2: UpdateSpec = {
  ...noChanges,
  revision: 'rev-2',
  images: { c1: 'app:v2' },
  updatesEnv: false,
  graceSeconds: 0,
};
const owner = 'default/web';

const makePod = (name: string): Pod => {
  const pod = podOf([{ name: 'c1', image: 'app:v1' }], { labels: { 'controller-revision-hash': 'rev-1' } });
  return { ...pod, metadata: { ...pod.metadata, name, uid: name } };
};

const permissionsAt = (refusals: Refusals): Permissions => permissionsBy(refusals.begin(owner, undefined));
const engineAt = (refusals: Refusals) => ({
  settings,
  revisionLabels: literalLabels,
  permissions: permissionsAt(refusals),
});

/** Returns the ids under which the dry run before the update of a Pod is recorded. */
function idsOf(pod: Pod, refusals: Refusals) {
  const [first] = startUpdate(pod, toV2, engineAt(refusals), now);
  return { id: first?.dryRun?.id ?? '', own: first?.dryRun?.ownId ?? '' };
}

test('the dry run covers the first batch only', () => {
  const barrier = (priority: number) => [
    { name: 'KRUISE_CONTAINER_BARRIER', valueFrom: { configMapKeyRef: { name: 'barrier', key: `p_${priority}` } } },
  ];
  const pod = podOf(
    [
      { name: 'c1', image: 'app:v1', env: barrier(2) },
      { name: 'c2', image: 'proxy:v1', env: barrier(1) },
    ],
    { labels: { 'controller-revision-hash': 'rev-1' } },
  );
  const spec = { ...toV2, images: { c1: 'app:v2', c2: 'proxy:v2' } };
  const [first] = startUpdate(pod, spec, engineAt(createRefusals(virtualClock(now))), now);
  const sent = JSON.stringify(first?.dryRun?.writes);
  assert.deepEqual([sent.includes('app:v2'), sent.includes('proxy:v2')], [true, false]);
});

type Row = {
  readonly name: string;
  readonly policy: PodUpdatePolicy;
  readonly happens: (refuse: (what: 'update' | 'recreation', error: unknown) => void, clock: VirtualClock) => void;
  readonly way: unknown;
};

const refusal = { fault: denied.message };
const rows: readonly Row[] = [
  { name: 'nothing was refused', policy: 'InPlaceOnly', happens: () => {}, way: 'InPlace' },
  {
    name: 'the update was refused a moment ago',
    policy: 'InPlaceOnly',
    happens: (refuse) => refuse('update', denied),
    way: refusal,
  },
  {
    name: 'the backoff of a refused update is over',
    policy: 'InPlaceOnly',
    happens(refuse, clock) {
      refuse('update', denied);
      clock.advance(1000);
    },
    way: 'InPlace',
  },
  {
    name: 'the update was refused, and Pods may be recreated',
    policy: 'InPlaceIfPossible',
    happens: (refuse) => refuse('update', denied),
    way: 'ReCreate',
  },
  {
    name: 'the server failed at the update, and Pods may be recreated',
    policy: 'InPlaceIfPossible',
    happens: (refuse) => refuse('update', internalError('webhook')),
    way: { fault: internalError('webhook').message },
  },
  {
    name: 'update and recreation were refused',
    policy: 'InPlaceIfPossible',
    happens(refuse) {
      refuse('update', denied);
      refuse('recreation', denied);
    },
    way: refusal,
  },
  {
    name: 'both backoffs are over, and each was tried once',
    policy: 'InPlaceIfPossible',
    happens(refuse, clock) {
      refuse('update', denied);
      refuse('recreation', denied);
      clock.advance(1000);
    },
    way: 'InPlace',
  },
  {
    name: 'the update has been tried more often than the recreation',
    policy: 'InPlaceIfPossible',
    happens(refuse, clock) {
      refuse('update', denied);
      refuse('recreation', denied);
      clock.advance(1000);
      refuse('update', denied);
    },
    way: 'ReCreate',
  },
  {
    name: 'the update is invalid, however long ago it was refused',
    policy: 'InPlaceIfPossible',
    happens(refuse, clock) {
      refuse('update', wrong);
      clock.advance(200_000);
    },
    way: 'ReCreate',
  },
  {
    name: 'the update is invalid, and the recreation was refused',
    policy: 'InPlaceIfPossible',
    happens(refuse, clock) {
      refuse('update', wrong);
      clock.advance(1000);
      refuse('recreation', denied);
    },
    way: refusal,
  },
];
for (const { name, policy, happens, way } of rows) {
  test(`the update type is decided if ${name}: ${policy}`, () => {
    const clock = virtualClock();
    const refusals = createRefusals(clock);
    const pod = makePod('a');
    const { id } = idsOf(pod, refusals);
    const recreation = { workload: pod, revision: 'rev-2', pod: () => pod };
    const [marking] = permissionsAt(refusals).beforeRecreation([patch(pod, {})], recreation);
    const ids = { update: id, recreation: (marking?.type === 'patch' ? marking.dryRun?.id : undefined) ?? '' };
    happens((what, error) => refusals.refuse(owner, ids[what], error), clock);
    assert.deepEqual(permissionsAt(refusals).updateTypeFor(pod, toV2, policy), way);
  });
}

test('one Pod of a revision is preceded by a dry run of all its writes, and the others wait for it', () => {
  const refusals = createRefusals(virtualClock());
  const engine = engineAt(refusals);
  const started = ['a', 'b'].map((name) => startUpdate(makePod(name), toV2, engine, now));
  const [first, second] = started.map(([gate]) => gate?.dryRun);
  assert.equal(first?.id, second?.id);
  assert.deepEqual([first?.writes.length, second?.writes.length], [1, 0]);
  const [write] = first?.writes ?? [];
  assert.ok(write?.type === 'patch');
  const { spec } = write.patch as { readonly spec?: { readonly containers?: readonly object[] } };
  assert.deepEqual(spec?.containers, [{ name: 'c1', image: 'app:v2' }]);

  refusals.acceptDryRun(owner, first?.id ?? '');
  const [gate] = startUpdate(makePod('c'), toV2, engineAt(refusals), now);
  assert.equal(gate?.dryRun, undefined);
});

test('a single write needs no dry run', () => {
  const { readinessGates: _, ...spec } = makePod('a').spec!;
  const started = startUpdate({ ...makePod('a'), spec }, toV2, engineAt(createRefusals(virtualClock())), now);
  assert.deepEqual(
    started.map(({ dryRun }) => dryRun),
    [undefined],
  );
});

test('a Pod that was refused while others may be updated gets its own dry run', () => {
  const refusals = createRefusals(virtualClock());
  const { id, own } = idsOf(makePod('a'), refusals);
  refusals.acceptDryRun(owner, id);
  refusals.refuse(owner, own, denied);
  assert.deepEqual(idsOf(makePod('a'), refusals), { id: own, own });
  const permissions = permissionsAt(refusals);
  assert.deepEqual(
    ['a', 'b'].map((name) => permissions.wasRefused(makePod(name), toV2)),
    [true, false],
  );
});

test('Pods with other resources get their own dry run, as they may be resized in other ways', () => {
  const resize: UpdateSpec = { ...toV2, images: {}, resources: { c1: { limits: { memory: '1Gi' } } } };
  const withMemory = (memory: string): Pod => {
    const pod = makePod('a');
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    const containers = [{ name: 'c1', image: 'app:v1', resources: { limits: { memory } }, resizePolicy }];
    return { ...pod, spec: { ...pod.spec!, containers } };
  };
  const engine = engineAt(createRefusals(virtualClock()));
  const ids = ['2Gi', '2Gi', '512Mi'].map(
    (memory) => startUpdate(withMemory(memory), resize, engine, now)[0]?.dryRun?.id,
  );
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
});

test('while a batch is held back the Pod is ready, and a dry run precedes its next draining', () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  const graceful = { ...toV2, graceSeconds: 10 };
  const state = {
    revision: 'rev-2',
    updateTimestamp: '2020-01-01T00:00:00Z',
    updatesEnv: false,
    updatesResources: false,
    updatesImages: true,
    next: noChanges,
    batches: [],
  };
  const base = makePod('a');
  const pod: Pod = {
    ...base,
    metadata: {
      ...base.metadata,
      labels: { 'controller-revision-hash': 'rev-2' },
      annotations: {
        'apps.kruise.io/inplace-update-state': formatState(state),
        'apps.kruise.io/inplace-update-grace': formatGrace(graceful),
      },
    },
    status: { conditions: [{ type: inPlaceUpdateReadyCondition, status: 'False', reason: 'StartInPlaceUpdate' }] },
  };
  const summary = () =>
    refreshUpdate(pod, engineAt(refusals), now).actions.map(({ subresource = 'pod', patch: change, dryRun }) => {
      const { status } = change as { readonly status?: Pod['status'] };
      const gate = status?.conditions?.[0]?.status;
      return `${dryRun ? 'dry run, ' : ''}${gate ? `gate ${gate}` : subresource}`;
    });
  assert.deepEqual(summary(), ['pod']);
  refusals.refuse(owner, batchId(pod), denied);
  assert.deepEqual(summary(), ['gate True']);
  clock.advance(1000);
  assert.deepEqual(summary(), ['dry run, gate False', 'pod']);
});
