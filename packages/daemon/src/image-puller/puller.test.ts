import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageTagSpec, ImageTagStatus, NodeImage } from '@kruise/api/kruise/nodeimage';
import { createSimulatedRuntime } from '@kruise/node/cri/simulated/simulated-runtime';
import { seededRandom } from '@kruise/values/random';
import { createSemaphore } from '@kruise/values/scheduling/semaphore';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createPuller } from './puller.ts';
import { statusFrom } from './status.ts';

type Images = { readonly [name: string]: readonly (Partial<ImageTagSpec> & { readonly tag: string })[] };

const slow = { annotations: { 'sim.kruise.io/pull-latency': '10s' } };
const wanting = (images: Images, reported: readonly ImageTagStatus[] = []): NodeImage => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'NodeImage',
  metadata: { name: 'node-1' },
  spec: {
    images: Object.fromEntries(Object.entries(images).map(([name, tags]) => [name, { tags, sandboxConfig: slow }])),
  },
  status: { desired: 0, succeeded: 0, failed: 0, pulling: 0, waiting: 0, imageStatuses: { nginx: { tags: reported } } },
});

function start(limit = Number.POSITIVE_INFINITY) {
  const clock = virtualClock(0);
  const events: string[] = [];
  const puller = createPuller({
    images: createSimulatedRuntime({ clock, random: seededRandom(1) }),
    clock,
    withPermit: createSemaphore(limit),
    secretsFor: async () => [],
    onChange() {},
    succeeded: ({ name, spec }) => events.push(`${name}:${spec.tag} at ${clock.now() / 1000}`),
    failed: (_image, reason) => events.push(reason),
  });
  const phases = (object: NodeImage) =>
    Object.values(statusFrom(object, puller.statusesOf).imageStatuses ?? {}).flatMap(({ tags }) =>
      tags.map(({ tag, phase, version }) => `${tag} ${phase}${version ? ` v${version}` : ''}`),
    );
  const pass = (seconds: number) => clock.advanceAsync(seconds * 1000);
  return { puller, phases, pass, events };
}

test('every tag has its own worker', async () => {
  const { puller, phases, pass, events } = start();
  const object = wanting({ nginx: [{ tag: '1' }, { tag: '2' }], busybox: [{ tag: '3' }] });
  await puller.sync(object);
  await pass(1);
  assert.deepEqual(phases(object), ['1 Pulling', '2 Pulling', '3 Pulling']);
  await pass(10);
  assert.deepEqual(phases(object), ['1 Succeeded', '2 Succeeded', '3 Succeeded']);
  assert.deepEqual(events, ['nginx:1 at 10', 'nginx:2 at 10', 'busybox:3 at 10']);
});

test('the number of concurrent pulls of a node is limited', async () => {
  const { puller, phases, pass } = start(2);
  const object = wanting({ nginx: [{ tag: '1' }, { tag: '2' }, { tag: '3' }] });
  await puller.sync(object);
  await pass(1);
  assert.deepEqual(phases(object), ['1 Pulling', '2 Pulling', '3 Waiting']);
  await pass(10);
  assert.deepEqual(phases(object), ['1 Succeeded', '2 Succeeded', '3 Pulling']);
});

test('a second sync starts no pull twice', async () => {
  const { puller, pass, events } = start();
  const object = wanting({ nginx: [{ tag: '1' }] });
  for (let look = 0; look < 3; look++) {
    await puller.sync(object);
    await pass(8);
  }
  assert.deepEqual(events, ['nginx:1 at 10']);
});

test('a removed tag or image is stopped and dropped', async () => {
  const { puller, phases, pass, events } = start();
  await puller.sync(wanting({ nginx: [{ tag: '1' }, { tag: '2' }], busybox: [{ tag: '3' }] }));
  await pass(1);
  const left = wanting({ nginx: [{ tag: '2' }] });
  await puller.sync(left);
  await pass(10);
  assert.deepEqual(phases(left), ['2 Succeeded']);
  assert.deepEqual(events, ['pulling image busybox:3 is stopped', 'pulling image nginx:1 is stopped', 'nginx:2 at 10']);
});

test('a new version is pulled again', async () => {
  const { puller, phases, pass, events } = start();
  await puller.sync(wanting({ nginx: [{ tag: '1' }] }));
  await pass(5);
  const again = wanting({ nginx: [{ tag: '1', version: 1 }] });
  await puller.sync(again);
  await pass(1);
  assert.deepEqual(phases(again), ['1 Pulling v1']);
  await pass(10);
  assert.deepEqual(events, ['pulling image nginx:1 is stopped', 'nginx:1 at 15']);
});

test('a completed pull is not repeated', async () => {
  const { puller, phases, pass, events } = start();
  const reported: ImageTagStatus = { tag: '1', phase: 'Failed', completionTime: '1970-01-01T00:00:00Z', version: 1 };
  const object = wanting({ nginx: [{ tag: '1', version: 1 }] }, [reported]);
  await puller.sync(object);
  await pass(20);
  assert.deepEqual({ phases: phases(object), events }, { phases: ['1 Failed v1'], events: [] });
});

test('a pull that completed in another version is repeated', async () => {
  const { puller, phases, pass } = start();
  const reported: ImageTagStatus = { tag: '1', phase: 'Succeeded', completionTime: '1970-01-01T00:00:00Z' };
  const object = wanting({ nginx: [{ tag: '1', version: 1 }] }, [reported]);
  await puller.sync(object);
  await pass(1);
  assert.deepEqual(phases(object), ['1 Pulling v1']);
});

test('a stopped node stops all pulls', async () => {
  const { puller, pass, events } = start();
  await puller.sync(wanting({ nginx: [{ tag: '1' }] }));
  await pass(1);
  puller.stop();
  await pass(20);
  assert.deepEqual(events, ['pulling image nginx:1 is stopped']);
});

test('a NodeImage counts all tags, including unknown ones', () => {
  const { puller } = start();
  assert.deepEqual(statusFrom(wanting({ nginx: [{ tag: '1' }, { tag: '2' }] }), puller.statusesOf), {
    desired: 2,
    succeeded: 0,
    failed: 0,
    pulling: 0,
    waiting: 0,
  });
});
