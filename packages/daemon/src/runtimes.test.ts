import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { createSimulatedRuntime } from '@kruise/node/cri/simulated/simulated-runtime';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { findSockets, usableRuntimes } from './runtimes.ts';

const machines: { name: string; has: readonly string[]; named?: string; finds: readonly string[] }[] = [
  { name: 'containerd', has: ['/run/containerd/containerd.sock'], finds: ['/run/containerd/containerd.sock'] },
  { name: 'nothing', has: [], finds: [] },
  {
    name: 'several runtimes',
    has: ['/run/crio/crio.sock', '/run/cri-dockerd.sock', '/run/containerd.sock'],
    finds: ['/run/containerd.sock', '/run/crio/crio.sock', '/run/cri-dockerd.sock'],
  },
  {
    name: 'the one that is named',
    has: ['/run/containerd.sock', '/run/k3s/containerd.sock'],
    named: 'k3s/containerd.sock',
    finds: ['/run/k3s/containerd.sock'],
  },
  { name: 'not the one that is named', has: ['/run/containerd.sock'], named: 'crio.sock', finds: [] },
  { name: 'an unknown runtime', has: ['/run/docker.sock'], finds: [] },
];
for (const { name, has, named, finds } of machines) {
  test(`a machine with ${name} has ${finds.length} sockets`, () => {
    assert.deepEqual(
      findSockets('/run', (path) => has.includes(path), named),
      finds,
    );
  });
}

const works = createSimulatedRuntime({ clock: virtualClock(), random: seededRandom(1) });
const refuses: NodeRuntime = { ...works, imageFsInfo: () => Promise.reject(new Error('unknown service')) };

test('a runtime that does not support CRI v1 is skipped', async () => {
  const refused: unknown[] = [];
  assert.deepEqual(await usableRuntimes([refuses, works], (error) => refused.push(error)), [works]);
  assert.equal(refused.length, 1);
});

test('a machine without a usable runtime is an error', async () => {
  await assert.rejects(
    usableRuntimes([], () => {}),
    { message: 'not found container runtime sock' },
  );
  await assert.rejects(
    usableRuntimes([refuses], () => {}),
    { message: 'no usable container runtime' },
  );
});
