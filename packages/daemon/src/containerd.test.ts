/** The daemon with a real runtime: needs root on Linux, containerd, runc, CNI plugins and a static BusyBox. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { nodeImage } from '@kruise/api/kruise/nodeimage';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { type Caches, createCaches } from '@kruise/client/informer';
import { silentLog } from '@kruise/client/log';
import { featureGates } from '@kruise/manager/configuration/feature-gates';
import { envFromMetadataHash, plainHash } from '@kruise/manager/workload/inplace/container-hash';
import { readRuntimeMeta } from '@kruise/manager/workload/inplace/runtime-meta';
import { busyboxImage, type Containerd, startContainerd } from '@kruise/node/cri/conformance/containerd';
import { onContainerd } from '@kruise/node/cri/conformance/on-containerd';
import { createGrpcRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { createKubelet, type Kubelet } from '@kruise/node/kubelet/kubelet';
import { hasUnifiedCgroups } from '@kruise/node/kubelet/node/machine';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { systemClock as clock, systemRandom as random } from '@kruise/values/system';
import { formatTime } from '@kruise/values/time';
import { type Daemon, startDaemon } from './daemon.ts';

onContainerd('a daemon on containerd', (title) => describe(title, testDaemon));

function testDaemon(): void {
  let containerd: Containerd;
  let server: TestServer;
  let runtime: NodeRuntime;
  let kubelet: Kubelet;
  let daemon: Daemon;
  let caches: Caches;
  const running = new AbortController();
  const stop = new AbortController();

  before(async () => {
    containerd = await startContainerd();
    server = await startTestServer();
    const { client } = server;
    const service = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert' };
    // CRDs are ordinary objects with narrower types.
    await installDefinitions(server.core, kruiseDefinitions({ service }) as unknown as KubeObject[]);
    await client.create(namespace, { metadata: { name: 'kube-node-lease' } }).catch(() => {});
    await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
    runtime = createGrpcRuntime({ clock, endpoint: containerd.endpoint, signal: stop.signal });
    kubelet = createKubelet(
      {
        client: server.clientOf({ username: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] }),
        clock,
        random,
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
      running.signal,
    );
    await kubelet.registered;
    caches = createCaches(client, clock, random, { newest: true }, stop.signal);
    const options = { client, caches, clock, random, log: silentLog, gates: featureGates(), nodeName: 'node-1' };
    daemon = startDaemon(options, running.signal);
    await daemon.serve({ name: 'node-1', runtimes: [runtime] }, running.signal);
  });

  after(async () => {
    // All components are stopped, even after a failure.
    running.abort();
    await Promise.all([kubelet?.stopped, daemon?.stopped]);
    for (const { id } of (await runtime.listPodSandbox({})).items) {
      await runtime.stopPodSandbox({ podSandboxId: id });
      await runtime.removePodSandbox({ podSandboxId: id });
    }
    stop.abort();
    await server.close();
    await containerd.dispose();
  });

  /** Waits until a condition holds for an object. */
  function until<K extends Kind>(kind: K, name: string, holds: (object: ObjectOf<K>) => boolean): Promise<ObjectOf<K>> {
    return new Promise((resolve) => {
      const seen = new AbortController();
      caches.informer(kind).handle(
        ({ type, object }) => {
          const { metadata } = object as { readonly metadata: { readonly name?: string } };
          if (type === 'deleted' || metadata.name !== name || !holds(object)) return;
          seen.abort();
          resolve(object);
        },
        { signal: seen.signal },
      );
    });
  }

  test('a present image is accepted, and a failed pull is reported', async () => {
    const tagged = (tag: string) => ({
      tags: [
        {
          tag,
          createdAt: formatTime(clock.now()),
          imagePullPolicy: 'IfNotPresent' as const,
          pullPolicy: { backoffLimit: 0, timeoutSeconds: 30, ttlSecondsAfterFinished: 60 },
        },
      ],
    });
    const images = { busybox: tagged('conformance'), 'registry.invalid/app': tagged('v1') };
    await server.client.create(nodeImage, { metadata: { name: 'node-1' }, spec: { images } });
    const { status } = await until(
      nodeImage,
      'node-1',
      (object) => object.status?.succeeded === 1 && object.status.failed === 1,
    );
    const [present] = status?.imageStatuses?.['busybox']?.tags ?? [];
    assert.match(present?.imageID ?? '', /^busybox@sha256:[0-9a-f]{64}$/);
    const [absent] = status?.imageStatuses?.['registry.invalid/app']?.tags ?? [];
    assert.match(absent?.message ?? '', /^Failed to pull image reference "registry.invalid\/app:v1": failed to pull/);
  });

  test('a container is restarted after labels changed in place, and its environment has them', async () => {
    const fieldRef = { fieldPath: "metadata.labels['conf']" };
    const container = {
      name: 'main',
      image: busyboxImage,
      command: ['sh', '-c', 'trap exit TERM; while true; do sleep 0.1; done'],
      env: [{ name: 'CONF', valueFrom: { fieldRef } }],
    };
    const owner = { apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', name: 'web', uid: 'o', controller: true };
    await server.client.create(pod, {
      metadata: { name: 'web', namespace: 'default', labels: { conf: 'a' }, ownerReferences: [owner] },
      spec: { nodeName: 'node-1', automountServiceAccountToken: false, hostNetwork: true, containers: [container] },
    });
    const hashesOf = (found: Pod) => {
      const reported = readRuntimeMeta(found);
      return Array.isArray(reported) ? reported[0]?.hashes : undefined;
    };
    const expected = (conf: string) => envFromMetadataHash(container, { labels: { conf } });
    const hasEnvHash = (conf: string) => (found: Pod) =>
      hashesOf(found)?.extractedEnvFromMetadataHash === expected(conf);
    const started = await until(pod, 'web', hasEnvHash('a'));
    assert.equal(hashesOf(started)?.plainHash, plainHash(container));

    const reference = { name: 'web', namespace: 'default' };
    const condition = { type: 'InPlaceUpdateReady', status: 'False', lastTransitionTime: formatTime(clock.now()) };
    await server.client.patch(pod, reference, { metadata: { labels: { conf: 'b' } } }, { type: 'strategic' });
    await server.client.patch(
      pod,
      reference,
      { status: { conditions: [condition] } },
      { type: 'strategic', subresource: 'status' },
    );
    const updated = await until(pod, 'web', hasEnvHash('b'));
    assert.equal(updated.status?.containerStatuses?.[0]?.restartCount, 1);
  });
}
