import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod as podKind } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode } from './testing/test-node.ts';

test('a Pod that is bound to a node runs and becomes ready, and goes when it is deleted', async () => {
  await using node = await startTestNode();
  await node.create({});
  const ready = await node.until('web', (pod) => pod !== undefined && isPodReady(pod));
  assert.equal(ready?.status?.phase, 'Running');
  await node.server.client.delete(podKind, { name: 'web', namespace: 'default' });
  await node.until('web', (pod) => pod === undefined);
  assert.deepEqual(await node.events('web'), [
    'Normal Pulled: Container image "nginx:1.25" already present on machine',
    'Normal Created: Created container: c',
    'Normal Started: Started container c',
    'Normal Killing: Stopping container c',
  ]);
  assert.deepEqual(node.kubelet.workers(), []);
  assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
});
