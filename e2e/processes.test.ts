/**
 * The cluster in pieces: etcd, two API servers, and every component a process of its own with credentials of its own,
 * two of each that elects a leader. See docs/operations.md.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { lease } from '@kruise/api/coordination/lease';
import { node } from '@kruise/api/core/node';
import { findEtcd, startEtcd } from '@kruise/apiserver/store/etcd/server';
import type { Client } from '@kruise/client/client';
import { isConditionTrue } from '@kruise/machinery/conditions';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { freshEnvironment, hasTool, kruise, kruiseArguments, startCluster, temporaryHome } from './cluster.ts';

const etcd = hasTool('etcd', 'the cluster in pieces') ? findEtcd() : undefined;

if (etcd !== undefined) {
  test('every component runs as a process of its own, and another takes over from one that is killed', async (context) => {
    const home = temporaryHome();
    context.after(() => rmSync(home, { recursive: true, force: true }));
    const store = await startEtcd(etcd);
    context.after(() => store.dispose());
    const server = await startCluster(home, ['--etcd', store.endpoint], { command: 'apiserver' });
    context.after(() => server.stop());
    const { client, close } = server.connect();
    context.after(close);

    const credentials = async (user: string, ...groups: readonly string[]) => {
      const args = ['kubeconfig', '--data', server.data, '--user', user];
      const { code, stdout, stderr } = await kruise(home, [...args, ...(groups.length ? ['--group', ...groups] : [])]);
      assert.equal(code, 0, stderr);
      const file = join(home, `${user.replaceAll(':', '-')}.kubeconfig`);
      writeFileSync(file, stdout, { mode: 0o600 });
      return file;
    };
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
        ...['--leader-elect-lease-duration', '4s', '--leader-elect-renew-deadline', '3s'],
        ...['--leader-elect-retry-period', '500ms'],
      );
    const schedulers = await credentials('system:kube-scheduler');
    const replicas = [controllerManager(), controllerManager()];
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
    await client.create(deployment, {
      metadata: reference,
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx:1.25' }] } },
      },
    });
    const isReady = (replicas: number) => (found: readonly ObjectOf<typeof deployment>[]) =>
      found.some(({ status }) => status?.readyReplicas === replicas && status.updatedReplicas === replicas);
    await until(client, deployment, isReady(3));

    const held = await client.get(lease, { namespace: 'kube-system', name: 'kube-controller-manager' });
    const leader = replicas.find(({ pid }) => held.spec?.holderIdentity?.includes(`_${pid}`)) ?? replicas[0]!;
    leader.kill('SIGKILL');
    await client.patch(deployment, reference, { spec: { replicas: 5 } }, { type: 'merge' });
    await until(client, deployment, isReady(5));
  });
}

/** Waits until the objects of a kind are as wanted. */
async function until<K extends Kind>(
  client: Client,
  kind: K,
  isAsWanted: (objects: readonly ObjectOf<K>[]) => boolean,
): Promise<void> {
  const { items, metadata } = await client.list(kind);
  const objects = new Map(items.map((each) => [(each as { metadata: { uid?: string } }).metadata.uid, each]));
  if (isAsWanted(items)) return;
  const stop = new AbortController();
  const { resourceVersion = '' } = metadata;
  for await (const { type, object } of client.watch(kind, { resourceVersion, signal: stop.signal })) {
    const { uid } = (object as { metadata: { uid?: string } }).metadata;
    if (type === 'DELETED') objects.delete(uid);
    else objects.set(uid, object);
    if (isAsWanted([...objects.values()])) return stop.abort();
  }
  throw new Error(`the watch of ${kind.plural} ended`);
}
