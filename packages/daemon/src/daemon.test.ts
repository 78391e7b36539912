import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { type NodeImage, nodeImage } from '@kruise/api/kruise/nodeimage';
import { nodePodProbe } from '@kruise/api/kruise/nodepodprobe';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { serviceAccountGroups, serviceAccountUsername } from '@kruise/apiserver/service-account-user';
import { createCaches } from '@kruise/client/informer';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { daemonAccount, grantDaemonPermissions } from '@kruise/manager/bootstrap/rbac';
import { featureGates } from '@kruise/manager/configuration/feature-gates';
import { envFromMetadataHash } from '@kruise/manager/workload/inplace/container-hash';
import { readRuntimeMeta } from '@kruise/manager/workload/inplace/runtime-meta';
import { startTestNode } from '@kruise/node/kubelet/testing/test-node';
import { seededRandom } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';
import { startDaemon } from './daemon.ts';

/** Starts a node with a kubelet and a daemon, which has only its granted permissions. */
async function startNode() {
  const node = await startTestNode();
  const { server, clock, runtime } = node;
  const service = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert' };
  // CRDs are ordinary objects with narrower types.
  await installDefinitions(server.core, kruiseDefinitions({ service }) as unknown as KubeObject[]);
  await grantDaemonPermissions(server.client, 'kruise-system');
  const client = server.clientOf({
    username: serviceAccountUsername('kruise-system', daemonAccount),
    groups: [...serviceAccountGroups('kruise-system'), 'system:authenticated'],
  });
  const stop = new AbortController();
  const random = seededRandom(1);
  const complaints: string[] = [];
  const log = { info() {}, warn: (_fields: object, text: string) => complaints.push(text), error() {} };
  const caches = createCaches(client, clock, random, { newest: true }, stop.signal);
  const options = { client, caches, clock, random, log, gates: featureGates(), nodeName: 'node-1' };
  const daemon = startDaemon(options, stop.signal);
  const serving = daemon.serve({ name: 'node-1', runtimes: [runtime] }, stop.signal);
  await node.advance(1);
  await serving;
  return {
    node,
    client: server.client,
    complaints,
    async stop() {
      stop.abort();
      await daemon.stopped;
      await node[Symbol.asyncDispose]();
    },
  };
}

const wanting = (images: NodeImage['spec']['images']) => ({ metadata: { name: 'node-1' }, spec: { images: images! } });
const tagged = (tag: string) => ({
  tags: [{ tag, createdAt: '2026-01-01T00:00:00Z', pullPolicy: { backoffLimit: 0, ttlSecondsAfterFinished: 60 } }],
});

test('a node pulls the images of its NodeImage, and reports the result', async () => {
  const { node, client, complaints, stop } = await startNode();
  await client.create(nodeImage, wanting({ nginx: tagged('1.27'), 'no-such-image': tagged('1') }));
  await node.advance(10);
  const { status } = await client.get(nodeImage, { name: 'node-1' });
  const { imageStatuses = {}, ...counts } = status!;
  assert.deepEqual(counts, { desired: 2, succeeded: 1, failed: 1, pulling: 0, waiting: 0 });
  assert.equal(imageStatuses['nginx']?.tags[0]?.phase, 'Succeeded');
  assert.equal(imageStatuses['no-such-image']?.tags[0]?.phase, 'Failed');
  const listed = await node.runtime.listImages({});
  assert.ok(listed.images.some(({ repoTags }) => repoTags.includes('docker.io/library/nginx:1.27')));
  const { items } = await client.list(event, { namespace: 'default' });
  const reasons = items.filter(({ involvedObject }) => involvedObject.kind === 'NodeImage').map(({ reason }) => reason);
  assert.deepEqual(reasons.sort(), ['PullImageFailed', 'PullImageSucceed']);
  assert.deepEqual(complaints, []);
  await stop();
});

test('an image that is no longer wanted is no longer reported', async () => {
  const { node, client, stop } = await startNode();
  await client.create(nodeImage, wanting({ nginx: tagged('1.27') }));
  await node.advance(10);
  await updateWithRetry(client, nodeImage, { name: 'node-1' }, (found) => ({ ...found, spec: {} }));
  await node.advance(10);
  const { status } = await client.get(nodeImage, { name: 'node-1' });
  assert.deepEqual(status, { desired: 0, succeeded: 0, failed: 0, pulling: 0, waiting: 0 });
  await stop();
});

test('a recreated NodeImage gets the status of the previous one', async () => {
  const { node, client, stop } = await startNode();
  const succeeded = async () => (await client.get(nodeImage, { name: 'node-1' })).status?.succeeded;
  await client.create(nodeImage, wanting({ nginx: tagged('1.27') }));
  await node.advance(10);
  await client.delete(nodeImage, { name: 'node-1' });
  await client.create(nodeImage, wanting({ nginx: tagged('1.27') }));
  assert.equal(await succeeded(), undefined);
  await node.advance(10);
  assert.equal(await succeeded(), 1);
  await stop();
});

test('a Secret that cannot be read is skipped', async () => {
  const { node, client, complaints, stop } = await startNode();
  await client.create(namespace, { metadata: { name: 'other' } }).catch(() => {});
  await client.create(secret, { metadata: { name: 'key', namespace: 'other' }, type: 'Opaque' });
  const images = { nginx: { ...tagged('1.27'), pullSecrets: [{ namespace: 'other', name: 'key' }] } };
  await client.create(nodeImage, wanting(images));
  await node.advance(10);
  assert.equal((await client.get(nodeImage, { name: 'node-1' })).status?.succeeded, 1);
  assert.deepEqual(complaints, ['failed to get pull secret; pulling without it']);
  await stop();
});

test('a container is reported, and restarted when the labels of its Pod change in place', async () => {
  const { node, client, stop } = await startNode();
  const fieldRef = { fieldPath: "metadata.labels['conf']" };
  const container = { name: 'c', image: 'nginx:1.25', env: [{ name: 'CONF', valueFrom: { fieldRef } }] };
  const owner = { apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', name: 'web', uid: 'o', controller: true };
  await client.create(pod, {
    metadata: { name: 'web', namespace: 'default', labels: { conf: 'a' }, ownerReferences: [owner] },
    spec: { nodeName: 'node-1', automountServiceAccountToken: false, containers: [container] },
  });
  const hashOf = (found: Pod | undefined) => {
    const probeSpec = found && readRuntimeMeta(found);
    return Array.isArray(probeSpec) ? probeSpec[0]?.hashes.extractedEnvFromMetadataHash : undefined;
  };
  const expected = (conf: string) => envFromMetadataHash(container, { labels: { conf } });
  await node.waitUntil('web', (found) => hashOf(found) === expected('a'));

  const reference = { name: 'web', namespace: 'default' };
  const condition = { type: 'InPlaceUpdateReady', status: 'False', lastTransitionTime: formatTime(node.clock.now()) };
  await client.patch(pod, reference, { metadata: { labels: { conf: 'b' } } }, { type: 'strategic' });
  await client.patch(
    pod,
    reference,
    { status: { conditions: [condition] } },
    { type: 'strategic', subresource: 'status' },
  );
  const updated = await node.waitUntil('web', (found) => hashOf(found) === expected('b'));
  assert.equal(updated?.status?.containerStatuses?.[0]?.restartCount, 1);
  const events = await node.events('web');
  assert.ok(events.includes('Normal Killing: Stopping containerID simulated://c by container meta restarter'));
  await stop();
});

test('a Pod is probed according to its NodePodProbe, and the result is reported', async () => {
  const { node, client, complaints, stop } = await startNode();
  await client.create(pod, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      nodeName: 'node-1',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'busybox:1.37', command: ['sleep', '3600'] }],
    },
  });
  const started = await node.waitUntil('web', (found) => found?.status?.phase === 'Running');
  const { uid = '' } = started?.metadata ?? {};
  const probeSpec = (...command: readonly string[]) => ({
    podProbes: [
      {
        name: 'web',
        namespace: 'default',
        uid,
        IP: started?.status?.podIP ?? '',
        probes: [{ name: 'marker#look', containerName: 'c', probe: { exec: { command }, periodSeconds: 5 } }],
      },
    ],
  });
  const reference = { name: 'node-1' };
  const reportedStates = async () => {
    const { status } = await client.get(nodePodProbe, reference);
    return status?.podProbeStatuses?.[0]?.probeStates?.map(({ state, message = '' }) => `${state} ${message.trim()}`);
  };
  await client.create(nodePodProbe, { metadata: reference, spec: probeSpec('echo', 'data') });
  await node.advance(20);
  assert.deepEqual(await reportedStates(), ['Succeeded data']);
  await updateWithRetry(client, nodePodProbe, reference, (found) => ({ ...found, spec: probeSpec('cat', '/nowhere') }));
  await node.advance(20);
  assert.match((await reportedStates())?.[0] ?? '', /^Failed cat: .*nowhere/);
  await updateWithRetry(client, nodePodProbe, reference, (found) => ({ ...found, spec: {} }));
  await node.advance(20);
  assert.equal(await reportedStates(), undefined);
  const events = await node.events('web');
  assert.ok(events.some((text) => text.startsWith('Normal KruiseProbeSucceeded: data')));
  assert.deepEqual(complaints, []);
  await stop();
});
