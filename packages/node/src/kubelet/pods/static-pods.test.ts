import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode } from '../testing/test-node.ts';
import { staticPodOf } from './static-pods.ts';

const staticPodPath = '/etc/kubernetes/manifests';
const manifest = (image: string) => `apiVersion: v1
kind: Pod
metadata:
  name: proxy
spec:
  containers:
  - name: c
    image: ${image}
`;
const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);

async function startNode() {
  const node = await startTestNode({ kubelet: { staticPodPath } });
  await node.runtime.files.makeDirectory(staticPodPath);
  await node.runtime.files.writeFile(`${staticPodPath}/proxy.yaml`, manifest('nginx:1.25'));
  return node;
}

test('a manifest file becomes a static Pod with a mirror Pod', async () => {
  await using node = await startNode();
  const mirror = await node.waitUntil('proxy-node-1', isReady);
  const { annotations, ownerReferences } = mirror!.metadata;
  assert.equal(annotations?.['kubernetes.io/config.mirror'], annotations?.['kubernetes.io/config.hash']);
  assert.equal(annotations?.['kubernetes.io/config.source'], 'file');
  assert.deepEqual([ownerReferences?.[0]?.kind, ownerReferences?.[0]?.controller], ['Node', true]);
  assert.equal(mirror?.spec?.nodeName, 'node-1');
});

test('a deleted mirror Pod is recreated while the static Pod keeps running', async () => {
  await using node = await startNode();
  const before = await node.waitUntil('proxy-node-1', isReady);
  await node.server.client.delete(podKind, { name: 'proxy-node-1', namespace: 'default' }, { gracePeriodSeconds: 0 });
  const after = await node.waitUntil(
    'proxy-node-1',
    (pod) => isReady(pod) && pod?.metadata.uid !== before?.metadata.uid,
  );
  const idOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0]?.containerID;
  assert.equal(idOf(after), idOf(before));
});

test('a changed manifest replaces the static Pod', async () => {
  await using node = await startNode();
  const before = await node.waitUntil('proxy-node-1', isReady);
  await node.runtime.files.writeFile(`${staticPodPath}/proxy.yaml`, manifest('nginx:1.26'));
  const after = await node.waitUntil(
    'proxy-node-1',
    (pod) => isReady(pod) && pod?.status?.containerStatuses?.[0]?.image === 'docker.io/library/nginx:1.26',
  );
  assert.notEqual(after?.metadata.uid, before?.metadata.uid);
});

test('a deleted manifest removes the static Pod and its mirror Pod', async () => {
  await using node = await startNode();
  await node.waitUntil('proxy-node-1', isReady);
  await node.runtime.files.remove(`${staticPodPath}/proxy.yaml`);
  await node.waitUntil('proxy-node-1', (pod) => pod === undefined);
  await node.advance(60);
  assert.deepEqual((await node.runtime.listPodSandbox({})).items, []);
});

test('a static Pod has the node name as suffix, its own UID and tolerates NoExecute taints', () => {
  const given = { kind: 'Pod', metadata: { name: 'proxy' }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } };
  const pod = staticPodOf(given, { nodeName: 'Node-1', file: 'a', now: 0 });
  const other = staticPodOf(given, { nodeName: 'Node-1', file: 'b', now: 0 });
  assert.deepEqual([pod.metadata.name, pod.metadata.namespace], ['proxy-node-1', 'default']);
  assert.match(pod.metadata.uid!, /^[0-9a-f]{32}$/);
  assert.notEqual(pod.metadata.uid, other.metadata.uid);
  assert.deepEqual(pod.spec?.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
  assert.equal(pod.spec?.restartPolicy, 'Always');
});

const referenceRows: readonly (readonly [name: string, spec: object, message: RegExp])[] = [
  [
    'a ConfigMap',
    { volumes: [{ name: 'v', configMap: { name: 'x' } }] },
    /^static pods may not reference ConfigMap x$/,
  ],
  ['a Secret', { volumes: [{ name: 'v', secret: { secretName: 'x' } }] }, /^static pods may not reference Secret x$/],
  ['a ServiceAccount', { serviceAccountName: 'bot' }, /^static pods may not reference ServiceAccount bot$/],
  [
    'a PVC',
    { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }] },
    /^static pods may not reference a claim in volume v$/,
  ],
];
for (const [name, spec, message] of referenceRows) {
  test(`a static Pod cannot reference ${name}`, () => {
    const given = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'proxy' },
      spec: { containers: [{ name: 'c', image: 'nginx:1.25' }], ...spec },
    };
    assert.throws(() => staticPodOf(given, { nodeName: 'node-1', file: '/f', now: 0 }), { message });
  });
}

test('a malformed manifest does not affect others', async () => {
  await using node = await startNode();
  await node.runtime.files.writeFile(`${staticPodPath}/broken.yaml`, 'kind: Pod\n  metadata: [');
  await node.runtime.files.writeFile(`${staticPodPath}/.hidden.yaml`, manifest('nginx:1.26'));
  await node.waitUntil('proxy-node-1', isReady);
  assert.equal(node.kubelet.workers().length, 1);
});
