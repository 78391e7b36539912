/** Two sets of components on one store, as two `kruise up` on one etcd are: one set works, the other stands by. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { lease } from '@kruise/api/coordination/lease';
import { createInProcessServers } from '@kruise/apiserver/aggregation/in-process-servers';
import { networkConnector } from '@kruise/apiserver/connect/node-connector';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import type { Client } from '@kruise/client/client';
import { silentLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import type { Webhook } from '@kruise/client/webhook';
import { createNodeDirectory } from '@kruise/node/node-directory';
import { systemClock } from '@kruise/values/system';
import type { ComponentName } from './component-names.ts';
import { startComponents } from './components.ts';
import { installKruiseKinds, kruiseConverterOf } from './kruise-kinds.ts';

const leases = [
  { namespace: 'kube-system', name: 'kube-controller-manager' },
  { namespace: 'kube-system', name: 'cloud-controller-manager' },
  { namespace: 'kube-system', name: 'kube-scheduler' },
  { namespace: 'kube-system', name: 'kruise-local-storage' },
  { namespace: 'kruise-system', name: 'kruise-manager' },
];

test('one of two sets of components on one store works, and the other takes over', async () => {
  const webhooks = new Map<string, Webhook>();
  const servers = createInProcessServers();
  const directory = createNodeDirectory(networkConnector(systemClock));
  await using server = await startTestServer({
    nodes: directory,
    inProcessWebhooks: webhooks,
    inProcessServers: servers,
    converterOf: kruiseConverterOf,
  });
  await installKruiseKinds(server.core);
  const { client } = server;
  const registries = new Map<string, ReturnType<typeof createMetrics>>();
  const start = (identity: string) =>
    startComponents({
      core: server.core,
      log: silentLog,
      host: identity,
      settings: { rootAuthorities: 'authorities', clusterRanges: ['10.244.0.0/16'] },
      webhooks,
      servers,
      nodes: { count: identity === 'second' ? 1 : 0, directory },
      leaderElection: { identity, leaseDurationSeconds: 3, renewDeadlineSeconds: 2, retryPeriodSeconds: 0.2 },
      registryOf(name: ComponentName) {
        const registry = createMetrics();
        registries.set(`${identity} ${name}`, registry);
        return registry;
      },
    });
  const first = await start('first');
  await held(client, 'first');
  const second = await start('second');

  await makeDeployment(client, 'before');
  assert.deepEqual(
    await holdersOf(client),
    leases.map(() => 'first'),
  );
  assert.match(registries.get('first manager')!.text(), /^kruise_manager_is_leader 1$/m);
  assert.match(registries.get('second manager')!.text(), /^kruise_manager_is_leader 0$/m);
  // The standby has not reconciled a single key.
  assert.match(registries.get('first controller-manager')!.text(), /^controller_runtime_reconcile_total\{/m);
  assert.doesNotMatch(registries.get('second controller-manager')!.text(), /^controller_runtime_reconcile_total\{/m);

  await first.stop();
  await held(client, 'second');
  await makeDeployment(client, 'after');
  assert.match(registries.get('second manager')!.text(), /^kruise_manager_is_leader 1$/m);
  await second.stop();
});

async function holdersOf(client: Client): Promise<readonly (string | undefined)[]> {
  const found = await Promise.all(leases.map((reference) => client.get(lease, reference)));
  return found.map(({ spec }) => spec?.holderIdentity);
}

/** Resolves once all Leases have a holder. */
async function held(client: Client, identity: string): Promise<void> {
  await Promise.all(
    leases.map(async ({ namespace, name }) => {
      const selection = { namespace, fieldSelector: `metadata.name=${name}` };
      const { items, metadata } = await client.list(lease, selection);
      if (items.some(({ spec }) => spec?.holderIdentity === identity)) return;
      const resourceVersion = metadata.resourceVersion!;
      for await (const { object } of client.watch(lease, { ...selection, resourceVersion })) {
        if (object.spec?.holderIdentity === identity) return;
      }
    }),
  );
}

/** Creates a Deployment of one Pod, and resolves once the Pod is available. */
async function makeDeployment(client: Client, name: string): Promise<void> {
  const app = name;
  const { metadata } = await client.create(deployment, {
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'main', image: 'nginx:1.25' }] } },
    },
  });
  const selection = { namespace: 'default', fieldSelector: `metadata.name=${name}` };
  const resourceVersion = metadata.resourceVersion!;
  for await (const { object } of client.watch(deployment, { ...selection, resourceVersion })) {
    if (object.status?.availableReplicas === 1) return;
  }
}
