/**
 * A cluster of separate processes: etcd, two API servers, and every component with its own credentials, two replicas of
 * each component with leader election. See docs/how-to/run-a-cluster.md.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { lease } from '@kruise/api/coordination/lease';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { findEtcd, startEtcd } from '@kruise/apiserver/store/etcd/server';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { ObjectOf } from '@kruise/schema/kind';
import { credentialsOf, freshEnvironment, hasTool, kruiseArguments, startCluster, temporaryHome } from './cluster.ts';
import { statesOf, until } from './states.ts';

const etcd = hasTool('etcd', 'the cluster in pieces') ? findEtcd() : undefined;

if (etcd !== undefined) {
  test('every component runs as a separate process, and a standby takes over from a killed leader', async (context) => {
    const home = temporaryHome();
    context.after(() => rmSync(home, { recursive: true, force: true }));
    const store = await startEtcd(etcd);
    context.after(() => store.dispose());
    const server = await startCluster(home, ['--etcd', store.endpoint], { command: 'apiserver' });
    context.after(() => server.stop());
    const { client, close } = server.connect();
    context.after(close);

    const credentials = (user: string, ...groups: readonly string[]) => credentialsOf(home, server.data, user, groups);
    const start = (...args: readonly string[]): ChildProcess => {
      const child = spawn(process.execPath, kruiseArguments(args), { env: freshEnvironment(home), stdio: 'ignore' });
      context.after(() => child.kill('SIGKILL'));
      return child;
    };

    const managers = await credentials('system:kube-controller-manager');
    const pki = join(server.data, 'pki');
    const controllerManager = () =>
      start(
        ...['controller-manager', '--kubeconfig', managers, '--secure-port', '0', '--cluster-cidr', '10.244.0.0/16'],
        ...['--allocate-node-cidrs', '--service-account-private-key-file', join(pki, 'service-account.key')],
        ...['--cluster-signing-cert-file', join(pki, 'ca.crt'), '--cluster-signing-key-file', join(pki, 'ca.key')],
        ...['--leader-elect-lease-duration', `${leaseMs}ms`, '--leader-elect-renew-deadline', '3s'],
        ...['--leader-elect-retry-period', '500ms'],
      );
    const schedulers = await credentials('system:kube-scheduler');
    const leader = controllerManager();
    const held = await until(client, lease, (leases) => leases.find(isOfControllers)?.spec?.holderIdentity);
    controllerManager();
    start('scheduler', '--kubeconfig', schedulers, '--secure-port', '0');
    for (const name of ['one', 'two']) {
      const file = await credentials(`system:node:${name}`, 'system:nodes');
      start(
        ...['kubelet', '--kubeconfig', file, '--hostname-override', name, '--container-runtime-endpoint', 'simulated'],
        ...['--root-dir', join(home, name), '--port', '0', '--healthz-port', '0', '--address', '127.0.0.1'],
      );
    }

    await until(client, node, (nodes) => {
      return nodes.length === 2 && nodes.every(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
    });
    const labels = { app: 'web' };
    const reference = { name: 'web', namespace: 'default' };
    const replicas = 6;
    const budget = { maxSurge: 2, maxUnavailable: 1 };
    const templateOf = (image: string) => ({
      // Slow Pod starts, so that the leader can be killed during the rollout.
      metadata: { labels, annotations: { 'sim.kruise.io/start-latency': '500ms' } },
      spec: { containers: [{ name: 'main', image }] },
    });
    await client.create(deployment, {
      metadata: reference,
      spec: {
        replicas,
        strategy: { rollingUpdate: budget },
        selector: { matchLabels: labels },
        template: templateOf('nginx:1.25'),
      },
    });
    await until(client, deployment, ([found]) => found?.status?.availableReplicas === replicas);

    // Every observed state of the Pods, including the last writes of the leader and the first of its successor.
    const states = statesOf(client, pod);
    await states.next();
    await client.patch(deployment, reference, { spec: { template: templateOf('nginx:1.26') } }, { type: 'merge' });
    let diedAtMs: number | undefined;
    for await (const pods of states) {
      const active = pods.filter(isPodActive);
      const ready = active.filter(isPodReady);
      assert.ok(active.length <= replicas + budget.maxSurge, `${active.length} Pods at once`);
      assert.ok(ready.length >= replicas - budget.maxUnavailable, `only ${ready.length} Pods are ready`);
      const updated = ready.filter(({ spec }) => spec?.containers?.[0]?.image === 'nginx:1.26');
      if (diedAtMs === undefined && updated.length > 0) {
        assert.ok(updated.length < replicas, 'the rollout is under way');
        leader.kill('SIGKILL');
        diedAtMs = Date.now();
      }
      if (updated.length === replicas && pods.length === replicas) break;
    }
    const { spec } = await client.get(lease, { namespace: 'kube-system', name: 'kube-controller-manager' });
    assert.notEqual(spec?.holderIdentity, held, 'the other has taken over');
    // The standby waits until the lease of the killed leader expires, and retries about every half second.
    const waitedMs = Date.parse(spec?.acquireTime ?? '') - diedAtMs!;
    assert.ok(waitedMs < 2 * leaseMs, `it took ${waitedMs} ms to take over`);
  });
}

const leaseMs = 4000;

function isOfControllers({ metadata }: ObjectOf<typeof lease>): boolean {
  return metadata.name === 'kube-controller-manager';
}
