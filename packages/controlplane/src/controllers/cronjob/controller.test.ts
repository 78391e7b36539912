import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronJob } from '@kruise/api/batch/cronjob';
import { type Job, job } from '@kruise/api/batch/job';
import { event } from '@kruise/api/core/event';
import { formatTime } from '@kruise/values/time';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const reference = { name: 'sum', namespace: 'default' };
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'sum' }] } } as const;

const jobsOf = async ({ client }: Cluster) => (await client.list(job, { namespace: 'default' })).items;

async function complete({ client, clock }: Cluster, each: Job): Promise<void> {
  const time = formatTime(clock.now());
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: time,
  }));
  await client.update(
    job,
    { ...each, status: { startTime: time, completionTime: time, conditions } },
    { subresource: 'status' },
  );
}

test('a CronJob creates a Job every minute and keeps the last ones, with the permissions of its ServiceAccount', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['cronjob-controller']);
  await client.create(cronJob, {
    metadata: reference,
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template } }, successfulJobsHistoryLimit: 2 },
  });
  await cluster.advance(59);
  assert.deepEqual(await jobsOf(cluster), []);
  await cluster.advance(2);
  const [first] = await jobsOf(cluster);
  assert.match(first?.metadata.name ?? '', /^sum-\d+$/);
  const listed = (await client.get(cronJob, reference)).status?.active?.map(({ uid }) => uid);
  assert.deepEqual(listed, [first?.metadata.uid]);

  for (let minute = 0; minute < 4; minute++) {
    for (const each of await jobsOf(cluster)) if (!each.status?.conditions) await complete(cluster, each);
    await cluster.advance(60);
  }
  const jobs = await jobsOf(cluster);
  assert.equal(jobs.length, 3);
  const { active, lastScheduleTime, lastSuccessfulTime } = (await client.get(cronJob, reference)).status!;
  assert.equal(active?.length, 1);
  assert.equal(lastScheduleTime, '2026-01-01T00:05:00Z');
  assert.equal(lastSuccessfulTime, '2026-01-01T00:04:01Z');
  const { items } = await client.list(event, { namespace: 'default' });
  const reasons = new Set(items.map(({ reason, source }) => `${source?.component} ${reason}`));
  assert.deepEqual(
    reasons,
    new Set(['SuccessfulCreate', 'SawCompletedJob', 'SuccessfulDelete'].map((each) => `cronjob-controller ${each}`)),
  );
  assert.deepEqual(cluster.warnings, []);
});
