import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job } from '@kruise/api/batch/job';
import { formatTime } from '@kruise/values/time';
import { startCluster } from '../../testing/cluster.ts';

test('a Job is deleted after its TTL, with the permissions of the ServiceAccount', async () => {
  await using cluster = await startCluster();
  const { client, clock } = cluster;
  await cluster.run(['ttl-after-finished-controller']);
  const reference = { name: 'sum', namespace: 'default' };
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'sum' }] } } as const;
  const made = await client.create(job, { metadata: reference, spec: { template, ttlSecondsAfterFinished: 60 } });
  const time = formatTime(clock.now());
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: time,
  }));
  const status = { startTime: time, completionTime: time, conditions };
  await client.update(job, { ...made, status }, { subresource: 'status' });

  await cluster.advance(59);
  assert.equal((await client.get(job, reference)).metadata.deletionTimestamp, undefined);
  await cluster.advance(2);
  const { metadata } = await client.get(job, reference);
  assert.ok(metadata.deletionTimestamp);
  assert.deepEqual(metadata.finalizers, ['foregroundDeletion']);
  assert.deepEqual(cluster.warnings, []);
});
