import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node';
import { type Cluster, startCluster, temporaryHome, withoutControllers } from './cluster.ts';

// Operations of programs with the official JavaScript client.
let cluster: Cluster;
let config: KubeConfig;
let core: CoreV1Api;
const home = temporaryHome();
before(async () => {
  cluster = await startCluster(home, withoutControllers);
  config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});
after(async () => {
  await cluster.stop();
  rmSync(home, { recursive: true });
});

const namespace = 'default';
const settings = (name: string, data = {}): V1ConfigMap => ({ metadata: { name }, data });

test('the client creates, reads and lists objects', async () => {
  const created = await core.createNamespacedConfigMap({ namespace, body: settings('written', { key: 'value' }) });
  assert.ok(created.metadata?.creationTimestamp instanceof Date);
  const read = await core.readNamespacedConfigMap({ namespace, name: 'written' });
  assert.equal(read.metadata?.resourceVersion, created.metadata.resourceVersion);
  const { items } = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=written' });
  assert.deepEqual(
    items.map(({ data }) => data),
    [{ key: 'value' }],
  );
  await core.deleteNamespacedConfigMap({ namespace, name: 'written' });
  await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'written' }), { code: 404 });
});

test('the client patches with each patch type', async () => {
  await core.createNamespacedConfigMap({ namespace, body: settings('patched', { one: '1' }) });
  const patch = (body: object, strategy: PatchStrategy) =>
    core.patchNamespacedConfigMap(
      { namespace, name: 'patched', body, fieldManager: 'e2e' },
      setHeaderOptions('Content-Type', strategy),
    );
  await patch([{ op: 'add', path: '/data/two', value: '2' }], PatchStrategy.JsonPatch);
  await patch({ data: { three: '3' } }, PatchStrategy.MergePatch);
  const { data } = await patch({ data: { one: null } }, PatchStrategy.StrategicMergePatch);
  assert.deepEqual(data, { two: '2', three: '3' });
});

test('the client watches', async () => {
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  const seen: string[] = [];
  const enough = Promise.withResolvers<void>();
  const request = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { resourceVersion: metadata?.resourceVersion },
    (type, object: V1ConfigMap) => {
      seen.push(`${type} ${object.metadata?.name}`);
      if (type === 'DELETED') enough.resolve();
    },
    (error) => enough.reject(error),
  );
  await core.createNamespacedConfigMap({ namespace, body: settings('watched') });
  await core.deleteNamespacedConfigMap({ namespace, name: 'watched' });
  await enough.promise;
  request.abort();
  assert.deepEqual(seen, ['ADDED watched', 'DELETED watched']);
});

test('an informer of the client receives events', async () => {
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
    core.listNamespacedConfigMap({ namespace }),
  );
  const receivedEvents: string[] = [];
  const gone = Promise.withResolvers<void>();
  for (const event of ['add', 'update', 'delete'] as const) {
    informer.on(event, ({ metadata }) => {
      if (metadata?.name === 'informed') receivedEvents.push(event);
      if (event === 'delete') gone.resolve();
    });
  }
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: settings('informed') });
  await core.replaceNamespacedConfigMap({ namespace, name: 'informed', body: settings('informed', { a: 'b' }) });
  await core.deleteNamespacedConfigMap({ namespace, name: 'informed' });
  await gone.promise;
  await informer.stop();
  assert.deepEqual(receivedEvents, ['add', 'update', 'delete']);
});

test('the client scales a Deployment', async () => {
  const apps = config.makeApiClient(AppsV1Api);
  const labels = { app: 'web' };
  const body = {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    },
  };
  await apps.createNamespacedDeployment({ namespace, body });
  const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'web' });
  await apps.replaceNamespacedDeploymentScale({ namespace, name: 'web', body: { ...scale, spec: { replicas: 4 } } });
  assert.equal((await apps.readNamespacedDeployment({ namespace, name: 'web' })).spec?.replicas, 4);
});

test('the client creates a CloneSet as a custom object', async () => {
  const custom = config.makeApiClient(CustomObjectsApi);
  const place = { group: 'apps.kruise.io', version: 'v1alpha1', namespace, plural: 'clonesets' };
  const labels = { app: 'clone' };
  await custom.createNamespacedCustomObject({
    ...place,
    body: {
      apiVersion: 'apps.kruise.io/v1alpha1',
      kind: 'CloneSet',
      metadata: { name: 'clone' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
  });
  const found = await custom.getNamespacedCustomObject({ ...place, name: 'clone' });
  assert.equal(found.spec.replicas, 2);
});
