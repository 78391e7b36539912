import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secret } from '@kruise/api/core/secret';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { AuthConfig } from '../../cri/messages.ts';
import type { ImageService } from '../../cri/runtime.ts';
import { makeContainer, makePod } from '../fixtures.ts';
import { startTestNode } from '../testing/test-node.ts';
import { createBackOff } from './back-off.ts';
import { createImageManager, type ImageOptions, StartError } from './images.ts';

const config = (user: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {},
  type: 'kubernetes.io/dockerconfigjson',
  data: {
    '.dockerconfigjson': Buffer.from(
      JSON.stringify({ auths: { 'registry.example.com': { username: user, password: 'p' } } }),
    ).toString('base64'),
  },
});

/** Creates an image manager whose registry accepts one user. */
function nodeWith(options: Partial<ImageOptions> & { readonly taken?: string }) {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const tried: (string | undefined)[] = [];
  const service = {
    async imageStatus() {
      return { info: {} };
    },
    async pullImage({ auth }: { auth?: AuthConfig }) {
      tried.push(auth?.username);
      if (options.taken !== undefined && auth?.username !== options.taken) throw new Error(`no, ${auth?.username}`);
      return { imageRef: 'sha256:1' };
    },
  } as unknown as ImageService;
  const images = createImageManager(service, clock, { onChange() {}, nodeSecrets: async () => [], ...options });
  const messages: string[] = [];
  const ensure = (image: string, secrets = [] as ReturnType<typeof config>[]) =>
    images.ensureImageExists({
      pod: makePod(),
      container: makeContainer('c', { image }),
      sandboxConfig: { metadata: { name: 'web', namespace: 'default', uid: 'u', attempt: 0 } },
      secrets,
      backOff: createBackOff(clock),
      lastErrors: new Map(),
      record: (_type, reason, message) => void messages.push(`${reason}: ${message}`),
      signal: new AbortController().signal,
    });
  return { clock, tried, messages, ensure };
}

test('credentials of the Pod come before those of the node', async () => {
  const node = nodeWith({ taken: 'node', nodeSecrets: async () => [config('node')] });
  await node.ensure('registry.example.com/team/app:1', [config('pod')]);
  assert.deepEqual(node.tried, ['pod', 'node']);
});

test('an image without credentials is pulled anonymously', async () => {
  const node = nodeWith({ nodeSecrets: async () => [config('node')] });
  await node.ensure('registry.example.org/app:1', [config('pod')]);
  assert.deepEqual(node.tried, [undefined]);
});

test('all errors are reported if no credentials are accepted', async () => {
  const node = nodeWith({ taken: 'nobody', nodeSecrets: async () => [config('node')] });
  await assert.rejects(node.ensure('registry.example.com/app:1', [config('pod')]), {
    name: 'StartError',
    reason: 'ErrImagePull',
    message: '[no, pod, no, node]',
  });
});

test('a slow credential provider delays no pull of another image', async () => {
  const slow = Promise.withResolvers<ReturnType<typeof config>[]>();
  const node = nodeWith({ nodeSecrets: async (image) => (image.startsWith('registry') ? slow.promise : []) });
  const waiting = node.ensure('registry.example.com/app:1');
  await node.ensure('a:1');
  assert.deepEqual(node.tried, [undefined]);
  slow.resolve([config('node')]);
  await waiting;
  assert.deepEqual(node.tried, [undefined, 'node']);
});

test('image pulls are rate-limited', async () => {
  const node = nodeWith({ limit: { perSecond: 5, burst: 2 } });
  await node.ensure('a:1');
  await node.ensure('b:1');
  await assert.rejects(
    node.ensure('c:1'),
    (error) => error instanceof StartError && error.reason === 'ErrImagePull' && error.message === 'pull QPS exceeded',
  );
  assert.ok(node.messages.includes('Failed: Failed to pull image "c:1": pull QPS exceeded'));
  node.clock.advance(200);
  await node.ensure('d:1');
});

for (const [policy, isPresent, pulls] of [
  ['Always', true, 1],
  ['Always', false, 1],
  ['IfNotPresent', true, 0],
  ['IfNotPresent', false, 1],
  ['Never', true, 0],
  ['Never', false, 0],
] as const) {
  test(`pull policy ${policy} pulls ${isPresent ? 'a present' : 'a missing'} image ${pulls} times`, async () => {
    await using node = await startTestNode();
    const { pullImage } = node.runtime;
    let count = 0;
    Object.assign(node.runtime, {
      pullImage: (request: Parameters<typeof pullImage>[0], options?: object) => {
        count++;
        return pullImage(request, options);
      },
    });
    const image = isPresent ? 'nginx:1.25' : 'redis:7';
    await node.create({ containers: [{ name: 'c', image, imagePullPolicy: policy }] });
    await node.advance(5);
    assert.equal(count, pulls);
    const { phase } = (await node.get('web')).status ?? {};
    assert.equal(phase, policy === 'Never' && !isPresent ? 'Pending' : 'Running');
  });
}

const failureRows: readonly (readonly [failure: string, reason: string, message: string])[] = [
  [
    'RegistryUnavailable: no route',
    'RegistryUnavailable',
    'image pull failed for a:1 because the registry is unavailable: no route',
  ],
  [
    'SignatureValidationFailed: bad key',
    'SignatureValidationFailed',
    'image pull failed for a:1 because the signature validation failed: bad key',
  ],
  ['anything else', 'ErrImagePull', 'anything else'],
];
for (const [failure, reason, message] of failureRows) {
  test(`a pull that fails with ${failure} has the reason ${reason}`, async () => {
    const node = nodeWith({ nodeSecrets: () => Promise.reject(new Error(failure)) });
    await assert.rejects(node.ensure('a:1'), { reason, message });
  });
}

test('credentials come from the node’s config.json', async () => {
  await using node = await startTestNode();
  await node.runtime.files.makeDirectory('/var/lib/kubelet');
  const auths = { 'gcr.io': { username: 'node', password: 'p' } };
  await node.runtime.files.writeFile('/var/lib/kubelet/config.json', JSON.stringify({ auths }));
  const { pullImage } = node.runtime;
  const users: (string | undefined)[] = [];
  Object.assign(node.runtime, {
    pullImage: (request: { image: { image: string }; auth?: AuthConfig }, options?: object) => {
      users.push(request.auth?.username);
      return pullImage(request, options);
    },
  });
  await node.server.client.create(secret, { metadata: { name: 'other', namespace: 'default' }, data: {} });
  await node.create({
    imagePullSecrets: [{ name: 'other' }],
    containers: [{ name: 'c', image: 'gcr.io/team/app:1' }],
  });
  await node.waitUntil('web', (pod) => pod?.status?.phase === 'Running');
  assert.deepEqual(users, ['node']);
});
