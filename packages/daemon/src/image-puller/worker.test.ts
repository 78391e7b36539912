import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@kruise/api/core/secret';
import type { ImageTagSpec, ImageTagStatus } from '@kruise/api/kruise/nodeimage';
import type { PullImageRequest } from '@kruise/node/cri/runtime';
import { createSimulatedRuntime } from '@kruise/node/cri/simulated/simulated-runtime';
import type { NodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { runWorker } from './worker.ts';

type Wanted = Partial<ImageTagSpec> & {
  readonly name?: string;
  readonly script?: { readonly [annotation: string]: string };
  readonly secrets?: readonly Secret[];
  readonly nodeSecrets?: NodeSecrets;
  readonly stopAfterMs?: number;
};

/** Pulls a tag on a simulated node, and returns the reports, the events and the requests to the runtime. */
async function pullTag({ name = 'nginx', script = {}, secrets = [], nodeSecrets, stopAfterMs, ...spec }: Wanted) {
  const clock = virtualClock(0);
  const runtime = createSimulatedRuntime({ clock, random: seededRandom(1), images: ['busybox:1.36'] });
  const asked: PullImageRequest[] = [];
  const reports: ImageTagStatus[] = [];
  const events: string[] = [];
  const stop = new AbortController();
  if (stopAfterMs !== undefined) clock.setTimer(stopAfterMs, () => stop.abort());
  let isOver = false;
  const images = {
    ...runtime,
    pullImage(...call: Parameters<typeof runtime.pullImage>) {
      asked.push(call[0]);
      return runtime.pullImage(...call);
    },
  };
  void runWorker(
    {
      images,
      clock,
      ...(nodeSecrets ? { nodeSecrets } : {}),
      withPermit: (work) => work(),
      report: (status) => reports.push(status),
      succeeded: (elapsedMs) => events.push(`succeeded after ${elapsedMs} ms`),
      failed: (reason) => events.push(`failed: ${reason}`),
    },
    { name, spec: { tag: '1.25', version: 2, ...spec }, secrets, sandboxConfig: { annotations: script } },
    stop.signal,
  ).then(() => (isOver = true));
  await clock.advanceAsync(3_600_000);
  assert.ok(isOver);
  const seconds = (text?: string) => (text === undefined ? undefined : Date.parse(text) / 1000);
  return {
    asked,
    events,
    reports,
    phases: reports.map(({ phase }) => phase),
    endedAt: seconds(reports.at(-1)?.completionTime),
  };
}

const slow = (duration: string) => ({ 'sim.kruise.io/pull-latency': duration });
const missing = { name: 'no-such-image' };

test('an available image is pulled, and its ID is reported', async () => {
  const { phases, reports, events, asked } = await pullTag({ script: slow('2s') });
  assert.deepEqual(phases, ['Waiting', 'Pulling', 'Succeeded']);
  const { imageID, ...last } = reports.at(-1)!;
  assert.match(imageID ?? '', /^nginx@sha256:[0-9a-f]{64}$/);
  assert.deepEqual(last, {
    tag: '1.25',
    version: 2,
    startTime: '1970-01-01T00:00:00Z',
    phase: 'Succeeded',
    progress: 100,
    completionTime: '1970-01-01T00:00:02Z',
  });
  assert.deepEqual(events, ['succeeded after 2000 ms']);
  assert.equal(asked.length, 1);
});

test('the runtime gets the sandbox config and the annotations', async () => {
  const { asked } = await pullTag({ script: { a: '1' } });
  assert.deepEqual(asked[0]?.image, { image: 'nginx:1.25', annotations: {} });
  assert.deepEqual(asked[0]?.sandboxConfig?.annotations, {
    a: '1',
    'apps.kruise.io/pulling-image-by': 'kruise-daemon',
  });
  assert.equal(asked[0]?.auth, undefined);
});

const pulls: {
  name: string;
  wanted: Wanted;
  pulls: number;
  phase: ImageTagStatus['phase'];
  endsAt?: number;
  message?: RegExp;
}[] = [
  {
    name: 'a present image is not pulled with IfNotPresent',
    wanted: { name: 'busybox', tag: '1.36', imagePullPolicy: 'IfNotPresent' },
    pulls: 0,
    phase: 'Succeeded',
    endsAt: 0,
  },
  {
    name: 'a present image is pulled with Always',
    wanted: { name: 'busybox', tag: '1.36', imagePullPolicy: 'Always' },
    pulls: 1,
    phase: 'Succeeded',
  },
  {
    name: 'a present image is pulled by default',
    wanted: { name: 'busybox', tag: '1.36' },
    pulls: 1,
    phase: 'Succeeded',
  },
  {
    name: 'a failure is retried three times with increasing delay',
    wanted: missing,
    pulls: 4,
    phase: 'Failed',
    endsAt: 1 + 2 + 4,
    message: /^Failed to pull image reference "no-such-image:1.25": failed to pull and unpack image/,
  },
  {
    name: 'the backoff limit is configurable',
    wanted: { ...missing, pullPolicy: { backoffLimit: 7 } },
    pulls: 8,
    phase: 'Failed',
    endsAt: 1 + 2 + 4 + 8 + 16 + 30 + 30,
  },
  {
    name: 'a backoff limit of zero allows one attempt',
    wanted: { ...missing, pullPolicy: { backoffLimit: 0 } },
    pulls: 1,
    phase: 'Failed',
    endsAt: 0,
  },
  {
    name: 'a negative backoff limit means three retries',
    wanted: { ...missing, pullPolicy: { backoffLimit: -1 } },
    pulls: 4,
    phase: 'Failed',
  },
  {
    name: 'an attempt that exceeds the timeout is cancelled',
    wanted: { script: slow('1h'), pullPolicy: { timeoutSeconds: 10, backoffLimit: 1 } },
    pulls: 2,
    phase: 'Failed',
    endsAt: 10 + 1 + 10,
    message: /^pulling image nginx:1.25 is canceled$/,
  },
  {
    name: 'after the deadline no attempt starts',
    wanted: { ...missing, pullPolicy: { backoffLimit: 9, activeDeadlineSeconds: 5 } },
    pulls: 3,
    phase: 'Failed',
    endsAt: 7,
    message: /^pulling exceeds the activeDeadlineSeconds$/,
  },
  {
    name: 'the deadline ends an attempt',
    wanted: { script: slow('1h'), pullPolicy: { timeoutSeconds: 600, activeDeadlineSeconds: 5, backoffLimit: 0 } },
    pulls: 1,
    phase: 'Failed',
    endsAt: 5,
  },
];
for (const { name, wanted, pulls: count, phase, endsAt, message } of pulls) {
  test(name, async () => {
    const { asked, phases, endedAt, events, reports } = await pullTag(wanted);
    assert.deepEqual({ count: asked.length, phase: phases.at(-1) }, { count, phase });
    if (endsAt !== undefined) assert.equal(endedAt, endsAt);
    if (message) assert.match(reports.at(-1)?.message ?? '', message);
    if (phase === 'Failed') assert.deepEqual(events, [`failed: ${reports.at(-1)?.message}`]);
  });
}

test('a stopped pull records its failure, but reports no status', async () => {
  const { phases, events } = await pullTag({ script: slow('1h'), stopAfterMs: 1000 });
  assert.deepEqual(phases, ['Waiting', 'Pulling']);
  assert.deepEqual(events, ['failed: pulling image nginx:1.25 is stopped']);
});

const dockerConfig = (auths: object): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'key' },
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
});

test('matching credentials are tried in order, and anonymous pulls are not', async () => {
  const secrets = [
    dockerConfig({
      'registry.private.com': { username: 'a', password: '1' },
      'registry.private.com/app': { auth: Buffer.from('b:2').toString('base64') },
      'registry.private.com/nginx': { username: 'c', password: '3' },
    }),
  ];
  const { asked, reports } = await pullTag({
    name: 'registry.private.com/app/echoserver',
    secrets,
    pullPolicy: { backoffLimit: 0 },
  });
  assert.deepEqual(
    asked.map(({ auth }) => auth),
    [
      { username: 'b', password: '2' },
      { username: 'a', password: '1' },
    ],
  );
  assert.match(reports.at(-1)?.message ?? '', /^\[failed to pull .*, failed to pull .*\]$/);
});

test('credentials of the node are tried after those of Secrets', async () => {
  const images: string[] = [];
  const { asked } = await pullTag({
    name: 'registry.private.com/app',
    secrets: [dockerConfig({ 'registry.private.com': { username: 'secret', password: '1' } })],
    async nodeSecrets(image) {
      images.push(image);
      return [dockerConfig({ 'registry.private.com/app': { username: 'node', password: '2' } })];
    },
    pullPolicy: { backoffLimit: 0 },
  });
  assert.deepEqual(images, ['registry.private.com/app:1.25']);
  assert.deepEqual(
    asked.map(({ auth }) => auth),
    [
      { username: 'secret', password: '1' },
      { username: 'node', password: '2' },
    ],
  );
});

test('a pull without matching credentials of Secrets uses those of the node', async () => {
  const { asked } = await pullTag({
    nodeSecrets: async () => [dockerConfig({ 'docker.io': { username: 'node', password: '2' } })],
  });
  assert.deepEqual(
    asked.map(({ auth }) => auth),
    [{ username: 'node', password: '2' }],
  );
});
