/** The same kubelet, with real containers: needs root on Linux, containerd, runc and a static BusyBox. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { startInformer } from '@kruise/client/informer';
import { isPodReady } from '@kruise/machinery/pods';
import { systemClock, systemRandom } from '@kruise/values/system';
import { busyboxImage, missingForContainerd, startContainerd } from '../cri/conformance/containerd.ts';
import { createGrpcRuntime } from '../cri/grpc/grpc-runtime.ts';
import { createKubelet } from './kubelet.ts';
import { hasUnifiedCgroups } from './machine.ts';

const missing = missingForContainerd();

test('a Pod of real containers lives and ends like any other', async (context) => {
  if (missing === undefined) return livesAndEnds();
  assert(!process.env['CI'], `${missing} is not here`);
  context.diagnostic(`LEFT OUT: without ${missing} there is no containerd to run them`);
});

async function livesAndEnds(): Promise<void> {
  const containerd = await startContainerd();
  await using server = await startTestServer();
  const { client } = server;
  const stop = new AbortController();
  const { signal } = stop;
  const clock = systemClock;
  await client.create(namespace, { metadata: { name: 'kube-node-lease' } }).catch(() => {});
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  await client.create(configMap, { metadata: { name: 'settings', namespace: 'default' }, data: { colour: 'red' } });
  const runtime = createGrpcRuntime({ clock, endpoint: containerd.endpoint, signal });
  const kubelet = createKubelet(
    {
      client: server.clientOf({ username: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] }),
      clock,
      random: systemRandom,
      runtime,
      nodeName: 'node-1',
      addresses: ['127.0.0.1'],
      settings: {
        hasUnifiedCgroups: hasUnifiedCgroups(),
        rootDirectory: join(containerd.directory, 'kubelet'),
        podLogsDirectory: join(containerd.directory, 'pods'),
        containerLogsDirectory: join(containerd.directory, 'containers'),
      },
    },
    signal,
  );
  const pods = startInformer(client, clock, systemRandom, podKind, {}, signal);
  const until = (what: (pod: Pod | undefined) => boolean) =>
    new Promise<Pod | undefined>((resolve) => {
      pods.handle(({ type, object }) => {
        const found = type === 'deleted' ? undefined : object;
        if (what(found)) resolve(found);
      });
    });
  try {
    await kubelet.registered;
    const ready = until((pod) => pod !== undefined && isPodReady(pod));
    await client.create(podKind, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        nodeName: 'node-1',
        hostNetwork: true,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
        initContainers: [{ name: 'init', image: busyboxImage, command: ['true'] }],
        containers: [
          {
            name: 'c',
            image: busyboxImage,
            command: ['sh', '-c', 'echo hello; cat /settings/colour; echo; sleep 1000'],
            volumeMounts: [{ name: 'settings', mountPath: '/settings' }],
            readinessProbe: { exec: { command: ['cat', '/settings/colour'] }, periodSeconds: 1 },
          },
        ],
      },
    });
    const pod = await ready;
    assert.match(pod?.status?.containerStatuses?.[0]?.containerID ?? '', /^containerd:\/\/[0-9a-f]{64}$/);
    assert.equal(pod?.status?.initContainerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
    const path = '/containerLogs/default/web/c';
    const { code, body } = await kubelet.handler.send({ method: 'GET', path, headers: {}, signal });
    assert.deepEqual([code, await text(body)], [200, 'hello\nred\n']);
    const gone = until((found) => found === undefined);
    await client.delete(podKind, { name: 'web', namespace: 'default' });
    await gone;
    // The last of it goes after its object has.
    await Promise.all(kubelet.workers().map((worker) => worker.gone));
  } finally {
    // Whatever went wrong, nothing is to run on.
    for (const { id } of (await runtime.listPodSandbox({})).items) {
      await runtime.stopPodSandbox({ podSandboxId: id });
      await runtime.removePodSandbox({ podSandboxId: id });
    }
    stop.abort();
    await kubelet.stopped;
    await containerd.dispose();
  }
}
