import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode } from '../testing/test-node.ts';
import { createRelists } from './relists.ts';

test('a waiter resolves with a relist requested after its time', async () => {
  const listings = createRelists();
  const seen: string[] = [];
  const waiting = [-1, 10, 20].map((at) => listings.waitForRelistAfter(at).then(() => seen.push(`newer than ${at}`)));
  for (const askedAt of [0, 10, 11, 21]) {
    listings.recordRelist(askedAt);
    // A resolved waiter continues within the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`asked at ${askedAt}`);
  }
  await Promise.all(waiting);
  assert.deepEqual(seen, [
    ...['newer than -1', 'asked at 0', 'asked at 10', 'newer than 10', 'asked at 11', 'newer than 20', 'asked at 21'],
  ]);
  await listings.waitForRelistAfter(20);
});

const containerOf = (pod: Pod | undefined, name: string) =>
  pod?.status?.containerStatuses?.find((each) => each.name === name);
const runsAgain = (name: string) => (pod: Pod | undefined) => {
  const { restartCount = 0, state } = containerOf(pod, name) ?? {};
  return restartCount === 1 && state?.running != null;
};
const secondsOf = (time: string | null | undefined) => Date.parse(time ?? '') / 1000;

const rows = [
  {
    EventedPLEG: true,
    name: 'a kubelet with runtime events continues when a hook completes',
    seconds: [10],
  },
  {
    EventedPLEG: false,
    name: 'a kubelet that relists every second needs two relists: for the result of the hook and for the next step',
    seconds: [11, 12],
  },
];
for (const { EventedPLEG, name, seconds } of rows) {
  test(name, async () => {
    await using node = await startTestNode({ kubelet: { gates: { EventedPLEG } } });
    const { client } = node.server;
    const lifecycle = { postStart: { exec: { command: ['sleep', '10'] } } };
    await node.create({
      containers: [
        { name: 'first', image: 'nginx:1.25', lifecycle },
        { name: 'second', image: 'nginx:1.25' },
      ],
    });
    await node.waitUntil('web', (pod) => pod !== undefined && isPodReady(pod));

    // Each container is updated once the previous one runs.
    for (const container of ['first', 'second']) {
      const patch = { spec: { containers: [{ name: container, image: 'nginx:1.26' }] } };
      await client.patch(podKind, { name: 'web', namespace: 'default' }, patch, { type: 'strategic' });
      await node.waitUntil('web', runsAgain(container));
    }
    const pod = await node.get('web');
    const began = secondsOf(containerOf(pod, 'first')?.state?.running?.startedAt);
    const ended = secondsOf(containerOf(pod, 'second')?.lastState?.terminated?.finishedAt);
    assert.ok(seconds.includes(ended - began), `${ended - began} seconds`);
  });
}
