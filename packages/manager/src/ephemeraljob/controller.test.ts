/** EphemeralJobs on a real API server, with a simulated kubelet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod } from '@kruise/api/core/pod';
import { type EphemeralJobSpec, ephemeralJob } from '@kruise/api/kruise/ephemeraljob';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { isNotFound } from '@kruise/machinery/status';
import { formatTime } from '@kruise/values/time';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const reference = { name: 'look', namespace: 'default' };
const debug = {
  name: 'debug',
  image: 'debug:v1',
  imagePullPolicy: 'IfNotPresent',
  terminationMessagePolicy: 'File',
} as const;

async function start({ client, pass, runPods }: TestCluster, spec: Partial<EphemeralJobSpec> = {}): Promise<void> {
  for (const name of ['a', 'b']) {
    const containers = [{ name: 'main', image: 'app:v1' }];
    await client.create(pod, {
      metadata: { name, namespace: 'default', labels: { app: 'web' } },
      spec: { containers },
    });
  }
  await runPods();
  await client.create(ephemeralJob, {
    metadata: reference,
    spec: { selector: { matchLabels: { app: 'web' } }, template: { ephemeralContainers: [debug] }, ...spec },
  });
  await pass(1);
}

/** Terminates every ephemeral container with success. */
async function endAll({ client, clock, pass }: TestCluster): Promise<void> {
  for (const { metadata, spec } of (await client.list(pod, { namespace: 'default' })).items) {
    const statuses = (spec?.ephemeralContainers ?? []).map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      ready: false,
      restartCount: 0,
      lastState: {},
      state: { terminated: { exitCode: 0, startedAt: formatTime(clock.now()), finishedAt: formatTime(clock.now()) } },
    }));
    const found = { name: metadata.name!, namespace: 'default' };
    await updateWithRetry(
      client,
      pod,
      found,
      (each) => ({ ...each, status: { ...each.status, ephemeralContainerStatuses: statuses } }),
      { subresource: 'status' },
    );
  }
  await pass(1);
}

const touched = async ({ client }: TestCluster) =>
  (await client.list(pod, { namespace: 'default' })).items
    .filter(({ spec }) => spec?.ephemeralContainers?.length)
    .map(({ metadata }) => metadata.name);

test('a job runs on one Pod after the other, completes, and is deleted', async () => {
  await using cluster = await startTestCluster();
  await start(cluster, { ttlSecondsAfterFinished: 5 });
  assert.deepEqual(await touched(cluster), ['a']);
  await endAll(cluster);
  assert.deepEqual(await touched(cluster), ['a', 'b']);
  await endAll(cluster);
  const { status } = await cluster.client.get(ephemeralJob, reference);
  assert.deepEqual([status?.phase, status?.succeeded], ['Succeeded', 2]);
  await cluster.pass(6);
  await assert.rejects(cluster.client.get(ephemeralJob, reference), isNotFound);
});

test('a job includes Pods that are created later', async () => {
  await using cluster = await startTestCluster();
  await start(cluster, { selector: {}, parallelism: 3 });
  assert.deepEqual(await touched(cluster), ['a', 'b']);
  const containers = [{ name: 'main', image: 'app:v1' }];
  await cluster.client.create(pod, { metadata: { name: 'c', namespace: 'default' }, spec: { containers } });
  await cluster.runPods();
  assert.deepEqual(await touched(cluster), ['a', 'b', 'c']);
});

test('a job with invalid containers is refused', async () => {
  await using cluster = await startTestCluster();
  const create = (container: object) =>
    cluster.client.create(ephemeralJob, {
      metadata: reference,
      spec: { selector: {}, template: { ephemeralContainers: [container as typeof debug] } },
    });
  const at = (problem: string) => new RegExp(`denied the request: .*ephemeralContainers\\[0\\]\\.${problem}`);
  await assert.rejects(create({ name: 'debug', image: 'debug:v1' }), at('terminationMessagePolicy: Required value'));
  await assert.rejects(create({ ...debug, ports: [{ containerPort: 80, protocol: 'TCP' }] }), at('ports: Forbidden'));
  await assert.rejects(create({ ...debug, image: ' debug' }), at('image: Invalid value'));
  await assert.rejects(create({ ...debug, name: 'Debug_1' }), at('name: Invalid value'));
  await create({ ...debug, targetContainerName: 'anything' });
});
