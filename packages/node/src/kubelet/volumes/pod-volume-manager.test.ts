import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '@kruise/api/core/configmap';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createSimulatedRuntime } from '../../cri/simulated/simulated-runtime.ts';
import { makePod } from '../fixtures.ts';
import type { NodeContext } from '../node/node-context.ts';
import { createPodVolumeManager } from './pod-volume-manager.ts';

const pod = makePod({ volumes: [{ name: 'config', configMap: { name: 'settings' } }] });
const facts = { podIPs: [], hostIPs: [], allocatable: {} };

function mountingOf(answer: () => string | Promise<string>) {
  const clock = virtualClock();
  const random = seededRandom('mounting');
  const runtime = createSimulatedRuntime({
    clock,
    random,
    nodeAddress: '172.18.0.2',
    podCidr: '10.244.0.0/24',
  });
  let asked = 0;
  const configMap = async (): Promise<ConfigMap> => {
    asked++;
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { key: await answer() } };
  };
  // The cast is safe: the tests use only these fields.
  const node = { clock, random, runtime, settings: { rootDirectory: '/kubelet' }, sources: { configMap } } as unknown;
  const mounting = createPodVolumeManager(node as NodeContext, 'uid');
  const shown = async () => {
    const path = (await mounting.ensureMounted(pod, facts))?.get('config')?.path ?? '';
    return Buffer.from(await runtime.files.readFile(`${path}/key`, { followsLinks: true })).toString();
  };
  return { clock, mounting, shown, asked: () => asked };
}

test('recently checked volumes are not checked again', async () => {
  const { clock, shown, asked } = mountingOf(() => 'a');
  for (const ms of [0, 999]) {
    clock.advance(ms);
    assert.equal(await shown(), 'a');
    assert.equal(asked(), 1);
  }
  clock.advance(1);
  await shown();
  assert.equal(asked(), 2);
});

test('stale volumes are checked at once', async () => {
  let now = 'a';
  const { mounting, shown } = mountingOf(() => now);
  assert.equal(await shown(), 'a');
  now = 'b';
  mounting.markStale();
  assert.equal(await shown(), 'b');
});

test('volumes that become stale during a check are checked again', async () => {
  const first = Promise.withResolvers<string>();
  let isFirst = true;
  const { mounting, shown } = mountingOf(() => {
    if (!isFirst) return 'b';
    isFirst = false;
    return first.promise;
  });
  const before = shown();
  mounting.markStale();
  first.resolve('a');
  assert.equal(await before, 'a');
  assert.equal(await shown(), 'b');
});
