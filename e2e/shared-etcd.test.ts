/** Two whole clusters on one etcd: one set of controllers runs, and the other takes over when the first is killed. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { lease } from '@kruise/api/coordination/lease';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { findEtcd, startEtcd } from '@kruise/apiserver/store/etcd/server';
import type { Client } from '@kruise/client/client';
import type { Kind, KubernetesObject } from '@kruise/schema/kind';
import { hasTool, startCluster, temporaryHome } from './cluster.ts';

const etcd = hasTool('etcd', 'two clusters on one etcd') ? findEtcd() : undefined;

const leases = [
  { namespace: 'kube-system', name: 'kube-controller-manager' },
  { namespace: 'kube-system', name: 'cloud-controller-manager' },
  { namespace: 'kube-system', name: 'kube-scheduler' },
  { namespace: 'kube-system', name: 'kruise-local-storage' },
  { namespace: 'kruise-system', name: 'kruise-manager' },
];

if (etcd !== undefined) {
  test('two clusters on one etcd run one set of controllers, and the second takes over from the first', async (context) => {
    const home = temporaryHome();
    context.after(() => rmSync(home, { recursive: true, force: true }));
    const store = await startEtcd(etcd);
    context.after(() => store.dispose());
    const options = ['--etcd', store.endpoint, '--nodes'];
    const first = await startCluster(home, [...options, '0'], { name: 'first' });
    const second = await startCluster(home, [...options, '1'], { name: 'second' });
    context.after(() => second.stop());
    const { client, close } = second.connect();
    context.after(close);

    const holdersBefore = await holdersOf(client);
    assert.equal(new Set(holdersBefore).size, 1, `one process holds all Leases: ${holdersBefore}`);
    await createWorkloads(client, 'before');
    await ready(client, 'before');

    await first.kill();
    await createWorkloads(client, 'after');
    await ready(client, 'after');
    const holdersAfter = await holdersOf(client);
    assert.equal(new Set(holdersAfter).size, 1, `one process holds all Leases: ${holdersAfter}`);
    assert.notEqual(holdersAfter[0], holdersBefore[0]);
    const { items } = await client.list(pod, { namespace: 'default' });
    assert.equal(items.length, 8, 'nothing is created twice');
  });
}

async function holdersOf(client: Client): Promise<readonly string[]> {
  const found = await Promise.all(leases.map((reference) => client.get(lease, reference)));
  return found.map(({ spec }) => spec?.holderIdentity ?? '');
}

async function createWorkloads(client: Client, name: string): Promise<void> {
  const specOf = (app: string) => ({
    replicas: 2,
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'main', image: 'nginx:1.25' }] } },
  });
  await client.create(deployment, { metadata: { name, namespace: 'default' }, spec: specOf(`deployment-${name}`) });
  await client.create(cloneSet, { metadata: { name, namespace: 'default' }, spec: specOf(`cloneset-${name}`) });
}

/** Resolves once both workloads with a name are available. */
async function ready(client: Client, name: string): Promise<void> {
  await Promise.all([available(client, deployment, name), available(client, cloneSet, name)]);
}

type Workload = KubernetesObject & { readonly status?: { readonly availableReplicas?: number } };

async function available<T extends Workload>(client: Client, kind: Kind<T>, name: string): Promise<void> {
  const selection = { namespace: 'default', fieldSelector: `metadata.name=${name}` };
  const isAvailable = ({ status }: Workload) => status?.availableReplicas === 2;
  const { items, metadata } = await client.list(kind, selection);
  if (items.some(isAvailable)) return;
  const from = { resourceVersion: metadata.resourceVersion!, timeoutSeconds: 120 };
  for await (const { object } of client.watch(kind, { ...selection, ...from })) {
    if (isAvailable(object)) return;
  }
  throw new Error(`${kind.kind} ${name} was not available within two minutes`);
}
