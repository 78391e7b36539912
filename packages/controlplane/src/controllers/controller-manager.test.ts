import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { lease } from '@kruise/api/coordination/lease';
import { pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { connect } from '@kruise/client/connect';
import { systemClock, systemRandom } from '@kruise/values/system';
import { catalogue } from './catalogue.ts';
import { runControllerManager, selectControllers, unknownControllers } from './controller-manager.ts';
import { serviceAccountCredentials } from './service-account-credentials.ts';

test('the catalogue is in alphabetical order, without duplicates', () => {
  const names = catalogue.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)].sort());
});

const settings = { rootAuthorities: '', clusterRanges: ['10.0.0.0/16'] };
const made = new Map(catalogue.map(({ name, make }) => [name, make(settings)]));

// Users select events by their reporting component.
for (const [name, component] of [
  ['cronjob-controller', 'cronjob-controller'],
  ['daemonset-controller', 'daemonset-controller'],
  ['deployment-controller', 'deployment-controller'],
  ['disruption-controller', 'controllermanager'],
  ['endpoints-controller', 'endpoint-controller'],
  ['endpointslice-controller', 'endpoint-slice-controller'],
  ['endpointslice-mirroring-controller', 'endpoint-slice-mirroring-controller'],
  ['ephemeral-volume-controller', 'ephemeral_volume'],
  ['garbage-collector-controller', 'garbage-collector-controller'],
  ['horizontal-pod-autoscaler-controller', 'horizontal-pod-autoscaler'],
  ['job-controller', 'job-controller'],
  ['node-ipam-controller', 'cidrAllocator'],
  ['node-lifecycle-controller', 'node-controller'],
  ['persistentvolume-attach-detach-controller', 'attachdetach-controller'],
  ['persistentvolume-binder-controller', 'persistentvolume-controller'],
  ['replicaset-controller', 'replicaset-controller'],
  ['replicationcontroller-controller', 'replication-controller'],
  ['statefulset-controller', 'statefulset-controller'],
  ['taint-eviction-controller', 'taint-eviction-controller'],
] as const) {
  test(`events of ${name} are reported by ${component}`, () => {
    assert.equal(made.get(name)?.[0]?.component, component);
  });
}

for (const [name, workers] of [
  ['cronjob-controller', 5],
  ['daemonset-controller', 2],
  ['deployment-controller', 5],
  ['endpoints-controller', 5],
  ['endpointslice-controller', 5],
  ['horizontal-pod-autoscaler-controller', 5],
  ['job-controller', 5],
  ['replicaset-controller', 5],
  ['replicationcontroller-controller', 5],
  ['statefulset-controller', 5],
] as const) {
  test(`${name} has ${workers} workers`, () => {
    const [controller] = made.get(name) ?? [];
    assert.equal(controller && 'workers' in controller && controller.workers, workers);
  });
}

for (const [wanted, unknown] of [
  ['*,-deployment-controller,replicaset-controller', ''],
  ['*,bootstrapsigner,tokencleaner', ''],
  ['*,-nonsense,rubbish', '-nonsense,rubbish'],
  ['*,-attachdetach', ''],
] as const) {
  test(`--controllers=${wanted} has unknown names: ${unknown || 'none'}`, () => {
    assert.equal(unknownControllers(wanted.split(',')).join(','), unknown);
  });
}

for (const [wanted, runs] of [
  ['*', 'deployment'],
  ['*,-deployment', ''],
  ['deployment-controller,-deployment-controller', 'deployment'],
  ['-deployment,deployment', ''],
  ['*,bootstrapsigner', 'bootstrap-signer deployment'],
  ['replicaset', ''],
] as const) {
  test(`--controllers=${wanted} runs ${runs || 'neither'}`, () => {
    const names = selectControllers(wanted.split(',')).map(({ name }) => name);
    const asked = ['bootstrap-signer', 'deployment'].filter((name) => names.includes(`${name}-controller`));
    assert.equal(asked.join(' '), runs);
  });
}

test('over the network, each controller uses its own ServiceAccount, under one lease', async () => {
  const user = { username: 'system:kube-controller-manager', groups: [] };
  await using server = await startTestServer({ https: true, user });
  const admin = server.clientOf({ username: 'admin', groups: ['system:masters'] });
  await admin.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const { client, as, close } = connect(systemClock, { path: server.kubeconfig.path });
  const stop = new AbortController();
  const shown = new Set<string>();
  const running = runControllerManager(
    {
      client,
      clientOf: (account) => {
        const credentials = serviceAccountCredentials(client, systemClock, systemRandom, account);
        shown.add(account);
        return as(credentials);
      },
      clock: systemClock,
      random: systemRandom,
      settings: { rootAuthorities: '' },
      controllers: ['clusterrole-aggregation-controller', 'deployment-controller', 'replicaset-controller'],
      leaderElection: { name: 'kube-controller-manager', namespace: 'kube-system', identity: 'test' },
    },
    stop.signal,
  );
  const { metadata } = await admin.list(pod, { namespace: 'default' });
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
  await admin.create(deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  });
  let count = 0;
  for await (const { type, object } of admin.watch(pod, {
    resourceVersion: metadata.resourceVersion!,
    namespace: 'default',
  })) {
    if (type !== 'ADDED') continue;
    assert.deepEqual(
      object.metadata.managedFields?.map(({ manager }) => manager),
      ['kube-controller-manager'],
    );
    if (++count === 2) break;
  }
  assert.deepEqual([...shown].sort(), [
    'clusterrole-aggregation-controller',
    'deployment-controller',
    'replicaset-controller',
  ]);
  await admin.get(serviceAccount, { namespace: 'kube-system', name: 'deployment-controller' });
  const { items: sets } = await admin.list(replicaSet, { namespace: 'default' });
  assert.equal(sets.length, 1);
  const reference = { namespace: 'kube-system', name: 'kube-controller-manager' };
  assert.equal((await admin.get(lease, reference)).spec?.holderIdentity, 'test');

  // The controller's field manager owns the applied fields.
  const aggregationRule = {
    clusterRoleSelectors: [{ matchLabels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } }],
  };
  const made = await admin.create(clusterRole, { metadata: { name: 'everyone' }, aggregationRule, rules: [] });
  for await (const { object } of admin.watch(clusterRole, { resourceVersion: made.metadata.resourceVersion! })) {
    const managers = object.metadata.managedFields?.map(({ manager }) => manager);
    if (object.metadata.name === 'everyone' && managers?.includes('clusterrole-aggregation-controller')) break;
  }

  stop.abort();
  await running;
  assert.equal((await admin.get(lease, reference)).spec?.holderIdentity, '');
  close();
});
