/** Defects that users of WorkloadSpread reported, replayed by issue number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import { type WorkloadSpreadSubset, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { priorityClass } from '@kruise/api/scheduling/priorityclass';
import { placementOf } from '@kruise/manager/workloadspread/placement';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import type { View } from '../view.ts';
import {
  active,
  asWorkload,
  at,
  claims,
  createWorkload,
  minute,
  newer,
  old,
  own,
  type Replay,
  ready,
  startReplay,
  stored,
  template,
  withImage,
} from './replay.ts';

async function spread(replay: Replay, kind: Kind, subsets: readonly WorkloadSpreadSubset[], more = {}): Promise<void> {
  const targetRef = { apiVersion: apiVersionOf(kind), kind: kind.kind, name: at.name };
  await replay.advanceUntilSettled(
    replay.client().create(workloadSpread, { metadata: at, spec: { targetRef, subsets, ...more } }),
  );
}

/** Returns the number of Pods in each subset: `a 2 b 8`. Pods without a subset are in `-`. */
function inGroups(pods: readonly Pod[]): string {
  const byGroup = Map.groupBy(pods, (each) => placementOf(each)?.subset ?? '-');
  const counts = [...byGroup].map(([name, members]) => `${name} ${members.length}`);
  return counts.sort().join(' ');
}

/** Returns the status of the subsets: `a 2/0 b 8/-1`, replicas and missingReplicas. */
function counted(view: View): string {
  const subsets = view.list(workloadSpread)[0]?.status?.subsetStatuses ?? [];
  return subsets.map(({ name, replicas, missingReplicas }) => `${name} ${replicas}/${missingReplicas}`).join(' ');
}

const subset = (name: string, maxReplicas?: number): WorkloadSpreadSubset => ({
  name,
  ...(maxReplicas === undefined ? {} : { maxReplicas }),
});
const elastic = [subset('a', 2), subset('b')];

/** Starts a workload with a WorkloadSpread that is created before its Pods. */
async function spreadWorkload(kind: Kind, replicas: number, subsets: readonly WorkloadSpreadSubset[], more = {}) {
  const replay = await startReplay();
  await spread(replay, kind, subsets, more);
  await createWorkload(replay, kind, { replicas });
  await replay.waitFor('all Pods are ready', (view) => ready(view).length === replicas, 3 * minute);
  await replay.advance(minute);
  return asWorkload(replay, kind);
}

test('#1197, #1194: a rolling update keeps the distribution of Pods', async () => {
  const replay = await spreadWorkload(deployment, 10, [subset('a', 2), subset('b', 8)]);
  assert.equal(inGroups(active(replay.view())), 'a 2 b 8');
  await replay.update(newer);
  const isDone = (view: View) => withImage(newer, ready(view)).length === 10 && own(view).length === 10;
  await replay.waitFor('all Pods are updated', isDone, 10 * minute);
  assert.equal(inGroups(active(replay.view())), 'a 2 b 8');
  await replay.waitFor('the status says so', (view) => counted(view) === 'a 2/0 b 8/0');
});

for (const kind of [deployment, replicaSet, cloneSet]) {
  test(`a ${kind.kind} that shrinks empties the last group first`, async () => {
    const replay = await spreadWorkload(kind, 6, elastic);
    assert.equal(inGroups(active(replay.view())), 'a 2 b 4');
    await replay.change({ replicas: 3 });
    await replay.waitFor('three are left', (view) => own(view).length === 3);
    assert.equal(inGroups(active(replay.view())), 'a 2 b 1');
  });
}

test('#739: finished Pods do not count in their subset', async () => {
  const replay = await spreadWorkload(cloneSet, 3, elastic);
  const { metadata } = active(replay.view()).find((each) => placementOf(each)?.subset === 'a')!;
  // A finalizer keeps the Pod.
  await replay.patchPod(metadata.name!, { metadata: { finalizers: ['example.com/stays'] } });
  await replay.patch(pod, metadata.name!, { status: { phase: 'Failed' } }, 'status');
  await replay.waitFor('another takes its place', (view) => inGroups(active(view)) === 'a 2 b 1', 3 * minute);
});

test('the next Pod of a Job gets the subset of the finished one', async () => {
  const replay = await startReplay();
  await spread(replay, job, elastic);
  const pods = template(old, { spec: { restartPolicy: 'Never' } });
  // A Job generates its own selector.
  await createWorkload(replay, job, { parallelism: 3, completions: 9, selector: undefined, template: pods });
  for (let round = 0; round < 4; round++) {
    await replay.waitFor('three are at work', (view) => ready(view).length === 3, 3 * minute);
    assert.equal(inGroups(active(replay.view())), 'a 2 b 1', `round ${round}`);
    const { metadata } = active(replay.view()).find((each) => placementOf(each)?.subset === 'a')!;
    await replay.patch(pod, metadata.name!, { status: { phase: 'Succeeded' } }, 'status');
    await replay.waitFor('it is over', (view) => !ready(view).some((each) => each.metadata.name === metadata.name));
  }
});

test('#1047, #1083: existing Pods fill subsets up to their limit and get their patches', async () => {
  const replay = await startReplay();
  await createWorkload(replay, cloneSet, { replicas: 4 });
  await replay.waitFor('all Pods are ready', (view) => ready(view).length === 4, 3 * minute);
  const patch = { metadata: { labels: { tier: 'cheap' } } };
  await spread(replay, cloneSet, [
    { ...subset('a', 1), patch },
    { ...subset('b'), patch },
  ]);
  await replay.waitFor('all are in groups', (view) => counted(view) === 'a 1/0 b 3/-1');
  assert.ok(active(replay.view()).every(({ metadata }) => metadata.labels?.['tier'] === 'cheap'));
});

test('#1066: Pods of a subset without a limit cost no writes', async () => {
  const replay = await spreadWorkload(cloneSet, 1, [subset('a', 1), subset('b')]);
  let writes = 0;
  let made = 0;
  replay.onManager(({ method, path }) => {
    if (method === 'PUT' && path.includes('/workloadspreads/')) writes++;
    if (method === 'POST' && path.endsWith('/pods')) made++;
  });
  await replay.change({ replicas: 21 });
  await replay.waitFor('all Pods are ready', (view) => ready(view).length === 21, 3 * minute);
  assert.equal(made, 20);
  // Only the controller's counts are written, and many Pods are counted in one write.
  assert.ok(writes < made, `${writes} writes`);
});

test('#2129: Pods that are deleted and recreated quickly all get a subset', async () => {
  const replay = await spreadWorkload(cloneSet, 6, [subset('a', 3), subset('b', 3)]);
  for (let round = 0; round < 10; round++) {
    // The watch events of the webhook and of the controller are late, by different times.
    replay.world.setNetworkConditions('manager', { latencyMs: [1, 40 * round + 1] });
    const gone = active(replay.view()).slice(0, 1 + (round % 3));
    for (const { metadata } of gone) await replay.deletePod(metadata.name!, { gracePeriodSeconds: round % 2 });
    await replay.waitFor('six are ready again', (view) => ready(view).length === 6, 3 * minute);
    assert.equal(inGroups(active(replay.view())), 'a 3 b 3', `round ${round}`);
  }
});

test('#1807: a Pod whose owner is not in the cache yet gets a subset', async () => {
  const replay = await startReplay();
  await spread(replay, deployment, elastic);
  // ReplicaSets reach the manager's cache long after their Pods are created.
  replay.world.setNetworkConditions('manager', { latencyMs: [500, 2000] });
  await createWorkload(replay, deployment, { replicas: 4 });
  await replay.waitFor('all Pods are ready', (view) => ready(view).length === 4, 10 * minute);
  assert.equal(inGroups(active(replay.view())), 'a 2 b 2');
});

const patching = (name: string) => {
  const volumeMounts = [{ name, mountPath: '/patched' }];
  const patch = { spec: { containers: [{ name: 'main', volumeMounts }] } } as unknown as WorkloadSpreadSubset['patch'];
  return [{ ...subset('a'), ...(patch ? { patch } : {}) }];
};
for (const kind of [cloneSet, statefulSet, advancedStatefulSet]) {
  test(`#1740, #1965, #2539: patches are validated against the template and the PVC templates of a ${apiVersionOf(kind)} ${kind.kind}`, async () => {
    const replay = await startReplay();
    const more = kind === cloneSet ? {} : { serviceName: 'web' };
    await createWorkload(replay, kind, {
      replicas: 0,
      template: template(old, stored),
      volumeClaimTemplates: claims,
      ...more,
    });
    await replay.advance(minute);
    await assert.rejects(
      spread(replay, kind, patching('other')),
      /spec\.subsets\[0\]\.patch\.containers\[0\]\.volumeMounts\[\d\]\.name: Not found: "other"/,
    );
    await spread(replay, kind, patching('data'));
  });
}

test('#1098: subsets without limits may be adaptive', async () => {
  const replay = await startReplay();
  const scheduleStrategy = { type: 'Adaptive', adaptive: { rescheduleCriticalSeconds: 30 } };
  await spread(replay, cloneSet, [subset('a'), subset('b')], { scheduleStrategy });
});

test('#1877: Pods that are patched with another PriorityClass get its priority', async () => {
  const replay = await startReplay();
  await replay.advanceUntilSettled(replay.client().create(priorityClass, { metadata: { name: 'high' }, value: 1000 }));
  const patch = { spec: { priorityClassName: 'high' } } as unknown as WorkloadSpreadSubset['patch'];
  await spread(replay, cloneSet, [{ ...subset('a'), ...(patch ? { patch } : {}) }]);
  await createWorkload(replay, cloneSet, { replicas: 1 });
  await replay.waitFor('the Pod is ready', (view) => ready(view).length === 1, 3 * minute);
  const [made] = active(replay.view());
  assert.deepEqual([made?.spec?.priorityClassName, made?.spec?.priority], ['high', 1000]);
});

test('#836, #1967, #2009: a subset can be added, and an unresolvable path changes nothing', async () => {
  const replay = await spreadWorkload(cloneSet, 3, [subset('a', 2), subset('b')]);
  const subsets = [subset('new', 1), subset('a', 2), subset('b')];
  await replay.patch(workloadSpread, 'web', { spec: { subsets } });
  await replay.waitFor('the new one is counted', (view) => counted(view) === 'new 0/1 a 2/0 b 1/-1');
  await replay.patch(workloadSpread, 'web', {
    spec: { targetFilter: { replicasPathList: ['spec.list.-1.replicas'] } },
  });
  await replay.advance(minute);
  assert.equal(counted(replay.view()), 'new 0/1 a 2/0 b 1/-1');
  await replay.patch(workloadSpread, 'web', { spec: { targetFilter: null } });
  await replay.change({ replicas: 4 });
  await replay.waitFor('the new one is filled', (view) => counted(view) === 'new 1/0 a 2/0 b 1/-1', 10 * minute);
});

test('#1566: with the feature gate disabled, WorkloadSpreads are rejected and Pods are not changed', async () => {
  const replay = await startReplay({ gates: () => ({ WorkloadSpread: false }) });
  await assert.rejects(spread(replay, cloneSet, elastic), /feature-gate WorkloadSpread is not enabled/);
  await createWorkload(replay, cloneSet, { replicas: 1 });
  await replay.waitFor('the Pod is ready', (view) => ready(view).length === 1, 3 * minute);
  assert.equal(inGroups(active(replay.view())), '- 1');
});

test('a manager that crashes repeatedly keeps its counts', async () => {
  const replay = await startReplay();
  await spread(replay, cloneSet, [subset('a', 4), subset('b', 4)]);
  await createWorkload(replay, cloneSet, { replicas: 8 });
  for (let round = 0; round < 6; round++) {
    await replay.advance(700);
    replay.world.crash('manager', 1000);
  }
  await replay.waitFor('all Pods are ready', (view) => ready(view).length === 8, 10 * minute);
  await replay.waitFor('all are counted', (view) => counted(view) === 'a 4/0 b 4/0', 3 * minute);
  assert.equal(inGroups(active(replay.view())), 'a 4 b 4');
});
