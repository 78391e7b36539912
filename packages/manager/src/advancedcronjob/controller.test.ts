/** AdvancedCronJobs on a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job } from '@kruise/api/batch/job';
import { type AdvancedCronJobSpec, advancedCronJob } from '@kruise/api/kruise/advancedcronjob';
import { broadcastJob } from '@kruise/api/kruise/broadcastjob';
import { imageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const reference = { name: 'cron', namespace: 'default' };
const pods = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'sum' }] } } as const;
const templates = {
  jobs: { jobTemplate: { spec: { template: pods } } },
  broadcasts: { broadcastJobTemplate: { spec: { template: pods } } },
  images: { imageListPullJobTemplate: { spec: { images: ['app:v1'], completionPolicy: { type: 'Always' } } } },
} satisfies { readonly [name: string]: AdvancedCronJobSpec['template'] };

async function start({ client, pass }: TestCluster, spec: Partial<AdvancedCronJobSpec>): Promise<void> {
  await client.create(advancedCronJob, {
    metadata: reference,
    spec: { schedule: '*/5 * * * *', template: templates.jobs, ...spec },
  });
  await pass(1);
}

test('an AdvancedCronJob creates a Job every five minutes, unless it is paused', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  const count = async () => (await client.list(job, { namespace: 'default' })).items.length;
  await start(cluster, {});
  assert.equal(await count(), 0);
  await pass(300);
  assert.equal(await count(), 1);
  await pass(300);
  assert.equal(await count(), 2);
  await updateWithRetry(client, advancedCronJob, reference, (found) => ({
    ...found,
    spec: { ...found.spec, paused: true },
  }));
  await pass(600);
  assert.equal(await count(), 2);
  const { status } = await client.get(advancedCronJob, reference);
  assert.deepEqual(
    [status?.type, status?.active?.length, status?.lastScheduleTime],
    ['Job', 2, '2026-01-01T00:10:00Z'],
  );
});

test('an AdvancedCronJob also creates BroadcastJobs and ImageListPullJobs', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await start(cluster, { template: templates.broadcasts });
  await client.create(advancedCronJob, {
    metadata: { name: 'images', namespace: 'default' },
    spec: { schedule: '*/5 * * * *', template: templates.images },
  });
  await pass(300);
  const names = [
    ...(await client.list(broadcastJob, { namespace: 'default' })).items,
    ...(await client.list(imageListPullJob, { namespace: 'default' })).items,
  ].map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['cron-1767225900', 'images-1767225900']);
});

test('a running job is replaced by the next one', async () => {
  await using cluster = await startTestCluster();
  await start(cluster, { template: templates.broadcasts, concurrencyPolicy: 'Replace' });
  await cluster.pass(601);
  const { items } = await cluster.client.list(broadcastJob, { namespace: 'default' });
  assert.deepEqual(
    items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name),
    ['cron-1767226200'],
  );
});
