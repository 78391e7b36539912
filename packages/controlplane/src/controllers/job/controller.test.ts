import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Job, type JobSpec, job } from '@kruise/api/batch/job';
import { event } from '@kruise/api/core/event';
import { type Pod, pod } from '@kruise/api/core/pod';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { formatTime } from '@kruise/values/time';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const reference = { name: 'sum', namespace: 'default' };
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'sum' }] } } as const;

async function startJob(spec: Partial<JobSpec>): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.run(['job-controller']);
  await cluster.client.create(job, { metadata: reference, spec: { template, ...spec } });
  await cluster.advance(1);
  return cluster;
}

const podsOf = async ({ client }: Cluster) => (await client.list(pod, { namespace: 'default' })).items;
const activeOf = async (cluster: Cluster) =>
  (await podsOf(cluster)).filter(({ status, metadata }) => status?.phase === 'Pending' && !metadata.deletionTimestamp);
const statusOf = async ({ client }: Cluster) => (await client.get(job, reference)).status!;
const conditionsOf = (status: Job['status']) => status?.conditions?.map(({ type, reason }) => `${type} ${reason}`);

async function end({ client, clock }: Cluster, each: Pod, phase: 'Succeeded' | 'Failed'): Promise<void> {
  const terminated = { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: formatTime(clock.now()) };
  const containerStatuses = [
    { name: 'main', state: { terminated }, ready: false, restartCount: 0, image: 'sum', imageID: '' },
  ];
  await client.update(pod, { ...each, status: { phase, containerStatuses } }, { subresource: 'status' });
}

test('a Job runs Pods until enough have succeeded, with the permissions of its ServiceAccount', async () => {
  await using cluster = await startJob({ completions: 3, parallelism: 2 });
  const [first, second] = await activeOf(cluster);
  assert.match(first?.metadata.name ?? '', /^sum-[bcdf-hj-np-tv-xz2456789]{5}$/);
  assert.deepEqual(first?.metadata.finalizers, ['batch.kubernetes.io/job-tracking']);
  assert.equal((await statusOf(cluster)).active, 2);

  await end(cluster, first!, 'Succeeded');
  await end(cluster, second!, 'Succeeded');
  await cluster.advance(3);
  const { succeeded, active, uncountedTerminatedPods } = await statusOf(cluster);
  assert.deepEqual(
    { succeeded, active, uncountedTerminatedPods },
    { succeeded: 2, active: 1, uncountedTerminatedPods: {} },
  );

  for (const each of await activeOf(cluster)) await end(cluster, each, 'Succeeded');
  await cluster.advance(3);
  const status = await statusOf(cluster);
  assert.deepEqual(conditionsOf(status), ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
  assert.equal(status.succeeded, 3);
  assert.ok(status.completionTime);
  assert.ok((await podsOf(cluster)).every(({ metadata }) => !metadata.finalizers));
  const { items } = await cluster.client.list(event, { namespace: 'default' });
  const events = items.map(({ reason, message, source }) => `${source?.component} ${reason} ${message}`);
  assert.equal(events.filter((each) => each.startsWith('job-controller SuccessfulCreate Created pod: sum-')).length, 3);
  assert.equal(events.filter((each) => each === 'job-controller Completed Job completed').length, 1);
  assert.deepEqual(cluster.warnings, []);

  const before = await cluster.core.store.currentRevision();
  await cluster.advance(600);
  assert.equal(await cluster.core.store.currentRevision(), before);
});

test('a Job that always fails retries with increasing backoff', async () => {
  await using cluster = await startJob({ backoffLimit: 2 });
  const times: number[] = [];
  const started = cluster.clock.now();
  for (let second = 0; second < 60; second++) {
    for (const each of await activeOf(cluster)) {
      times.push((cluster.clock.now() - started) / 1000);
      await end(cluster, each, 'Failed');
    }
    await cluster.advance(1);
  }
  assert.equal(times.length, 3);
  const [first = 0, second = 0, third = 0] = times;
  assert.ok(second - first >= 10 && second - first <= 12, `${times}`);
  assert.ok(third - second >= 20 && third - second <= 22, `${times}`);
  const status = await statusOf(cluster);
  assert.deepEqual(conditionsOf(status), ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
  assert.equal(status.failed, 3);
  assert.equal(status.completionTime, undefined);
  assert.deepEqual(cluster.warnings, []);
});

test('a Job is suspended and resumed', async () => {
  await using cluster = await startJob({ parallelism: 2, completions: 2 });
  const { startTime } = await statusOf(cluster);
  await cluster.client.patch(job, reference, { spec: { suspend: true } }, { type: 'merge' });
  await cluster.advance(5);
  assert.deepEqual(await activeOf(cluster), []);
  const suspended = await statusOf(cluster);
  assert.deepEqual(conditionsOf(suspended), ['Suspended JobSuspended']);
  assert.deepEqual([suspended.active ?? 0, suspended.failed ?? 0], [0, 0]);

  await cluster.client.patch(job, reference, { spec: { suspend: false } }, { type: 'merge' });
  await cluster.advance(5);
  assert.equal((await activeOf(cluster)).length, 2);
  const resumed = await statusOf(cluster);
  assert.deepEqual(conditionsOf(resumed), ['Suspended JobResumed']);
  assert.notEqual(resumed.startTime, startTime);
  assert.deepEqual(cluster.warnings, []);
});

test('a Job with an exhausted quota still counts finished Pods', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await client.create(resourceQuota, {
    metadata: { name: 'few', namespace: 'default' },
    spec: { hard: { pods: '2' } },
  });
  await client.patch(
    resourceQuota,
    { name: 'few', namespace: 'default' },
    { status: { hard: { pods: '2' }, used: { pods: '0' } } },
    { type: 'merge', subresource: 'status' },
  );
  await cluster.run(['job-controller']);
  await client.create(job, { metadata: reference, spec: { template, parallelism: 4, completions: 4 } });
  await cluster.advance(3);
  const made = await activeOf(cluster);
  assert.equal(made.length, 2);
  await end(cluster, made[0]!, 'Succeeded');
  await cluster.advance(70);
  const { succeeded, active } = await statusOf(cluster);
  assert.deepEqual([succeeded, active], [1, 1]);
});

test('the Pods of a deleted Job lose their finalizer', async () => {
  await using cluster = await startJob({ parallelism: 2, completions: 2 });
  await cluster.client.delete(job, reference, { propagationPolicy: 'Background' });
  // There is no garbage collector here; this does its work.
  for (const each of await podsOf(cluster)) {
    await cluster.client.delete(pod, { namespace: 'default', name: each.metadata.name! });
  }
  await cluster.advance(3);
  assert.deepEqual(await podsOf(cluster), []);
  assert.deepEqual(cluster.warnings, []);
});

test('an Indexed Job has one Pod per index', async () => {
  await using cluster = await startJob({
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 3,
    backoffLimitPerIndex: 0,
  });
  const pods = await activeOf(cluster);
  const indexOf = ({ metadata }: Pod) => metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
  assert.deepEqual(pods.map(indexOf).sort(), ['0', '1', '2']);
  for (const each of pods) await end(cluster, each, indexOf(each) === '1' ? 'Failed' : 'Succeeded');
  await cluster.advance(3);
  const { completedIndexes, failedIndexes, conditions } = await statusOf(cluster);
  assert.deepEqual([completedIndexes, failedIndexes], ['0,2', '1']);
  assert.deepEqual(conditionsOf({ conditions: conditions! }), ['FailureTarget FailedIndexes', 'Failed FailedIndexes']);
  assert.deepEqual(cluster.warnings, []);
});
