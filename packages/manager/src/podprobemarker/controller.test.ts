/** Pods on virtual nodes without a daemon, marked by their provider's conditions, on a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { startTestCluster } from '../testing/test-cluster.ts';

test('conditions of a provider determine labels', async () => {
  await using cluster = await startTestCluster();
  const { client, pass, runPods } = cluster;
  const reference = { name: 'a', namespace: 'default' };
  await client.create(node, { metadata: { name: 'node-1', labels: { type: 'virtual-kubelet' } } });
  await client.create(podProbeMarker, {
    metadata: { name: 'game', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'game' } },
      probes: [
        {
          name: 'idle',
          containerName: 'main',
          probe: { exec: { command: ['true'] } },
          podConditionType: 'example.com/idle',
          markerPolicy: [
            { state: 'Succeeded', labels: { idle: 'yes' } },
            { state: 'Failed', labels: { idle: 'no' } },
          ],
        },
      ],
    },
  });
  await client.create(pod, {
    metadata: { ...reference, labels: { app: 'game' } },
    spec: { containers: [{ name: 'main', image: 'app' }] },
  });
  await runPods();
  const labelAfter = async (type: string, status: string) => {
    const patch = { status: { conditions: [{ type, status }] } };
    await client.patch(pod, reference, patch, { type: 'strategic', subresource: 'status' });
    await pass(1);
    return (await client.get(pod, reference)).metadata.labels?.['idle'];
  };
  assert.equal(await labelAfter('Initialized', 'True'), undefined);
  assert.equal(await labelAfter('example.com/idle', 'True'), 'yes');
  assert.equal(await labelAfter('example.com/idle', 'False'), 'no');
  const { status } = await client.get(podProbeMarker, { name: 'game', namespace: 'default' });
  assert.equal(status?.matchedPods, 1);
});
