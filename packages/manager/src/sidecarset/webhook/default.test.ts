import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SidecarContainer, SidecarSet, SidecarSetSpec } from '@kruise/api/kruise/sidecarset';
import { defaultSidecarSet } from './default.ts';

const set = (spec: SidecarSetSpec, metadata: SidecarSet['metadata'] = { name: 'set' }): SidecarSet => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'SidecarSet',
  metadata,
  spec,
});
const side = (more: Partial<SidecarContainer> = {}): SidecarContainer => ({ name: 'side', image: 'side:v1', ...more });
const filled = {
  name: 'side',
  image: 'side:v1',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  podInjectPolicy: 'BeforeAppContainer',
  upgradeStrategy: { upgradeType: 'ColdUpgrade' },
  shareVolumePolicy: { type: 'disabled' },
};

test('a minimal SidecarSet gets defaults and hashes', () => {
  const { spec, metadata } = defaultSidecarSet(set({ containers: [side()] }));
  assert.deepEqual(spec, {
    containers: [filled],
    updateStrategy: { type: 'RollingUpdate', partition: 0, maxUnavailable: 1 },
    injectionStrategy: {},
    revisionHistoryLimit: 10,
  });
  assert.deepEqual(metadata.annotations, {
    'kruise.io/sidecarset-hash': '64d25dzzdz675284vc4z26c9f65bv2zvdvz6zbzc5xwd8c84dz8x4zx7v72d6wd6',
    'kruise.io/sidecarset-hash-without-image': '487f8z7d9f29bxbbvcwcz4z54x2db6wdcwf4x6bd2ddf6fw485594c96f867x7w2',
  });
});

test('a complete SidecarSet is unchanged', () => {
  const whole = defaultSidecarSet(set({ containers: [side()], initContainers: [side()], volumes: [{ name: 'v' }] }));
  assert.deepEqual(defaultSidecarSet(whole), whole);
});

test('hashes set by a client are overwritten', () => {
  const annotations = { 'kruise.io/sidecarset-hash': 'mine', other: 'kept' };
  const { metadata } = defaultSidecarSet(set({ containers: [] }, { name: 'set', annotations }));
  assert.equal(metadata.annotations?.['other'], 'kept');
  assert.notEqual(metadata.annotations?.['kruise.io/sidecarset-hash'], 'mine');
});

const containers: { name: string; container: Partial<SidecarContainer>; has: Partial<SidecarContainer> }[] = [
  { name: 'an image without a tag is always pulled', container: { image: 'side' }, has: { imagePullPolicy: 'Always' } },
  {
    name: 'a hot upgrade keeps its empty image',
    container: { upgradeStrategy: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'empty' } },
    has: { upgradeStrategy: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'empty' } },
  },
  {
    name: 'a field reference gets an apiVersion',
    container: { transferEnv: [{ sourceContainerNameFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
    has: { transferEnv: [{ sourceContainerNameFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }] },
  },
  {
    name: 'a liveness probe gets defaults',
    container: { livenessProbe: { httpGet: { port: 80 } } },
    has: {
      livenessProbe: {
        httpGet: { path: '/', port: 80, scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
    },
  },
  {
    name: 'a startup probe gets no defaults',
    container: { startupProbe: { httpGet: { port: 80 } } },
    has: { startupProbe: { httpGet: { port: 80 } } },
  },
];
for (const { name, container, has } of containers) {
  test(name, () => {
    const [given] = defaultSidecarSet(set({ containers: [side(container)] })).spec.containers ?? [];
    assert.deepEqual(given, { ...filled, ...container, ...has });
  });
}

test('init containers are injected after those of the Pod', () => {
  const { initContainers } = defaultSidecarSet(set({ initContainers: [side()] })).spec;
  assert.equal(initContainers?.[0]?.podInjectPolicy, 'AfterAppContainer');
});

test('volumes, metadata and revisions get defaults', () => {
  const { volumes, patchPodMetadata, injectionStrategy } = defaultSidecarSet(
    set({
      volumes: [{ name: 'v' }, { name: 'm', configMap: { name: 'm' } }],
      patchPodMetadata: [{ annotations: { a: '1' } }],
      injectionStrategy: { revision: { customVersion: 'one' } },
    }),
  ).spec;
  assert.deepEqual(volumes, [
    { name: 'v', emptyDir: {} },
    { name: 'm', configMap: { name: 'm', defaultMode: 420 } },
  ]);
  assert.deepEqual(patchPodMetadata, [{ annotations: { a: '1' }, patchPolicy: 'Retain' }]);
  assert.deepEqual(injectionStrategy, { revision: { customVersion: 'one', policy: 'Always' } });
});
