/** A pull from a registry with passwords, by a real containerd with the credentials of a real plugin. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { silentLog } from '@kruise/client/log';
import { systemClock } from '@kruise/values/system';
import { startContainerd } from '../../cri/conformance/containerd.ts';
import { onContainerd } from '../../cri/conformance/on-containerd.ts';
import { createGrpcRuntime } from '../../cri/grpc/grpc-runtime.ts';
import { createBackOff } from '../containers/back-off.ts';
import { createImageManager } from '../containers/images.ts';
import { makeContainer, makePod } from '../fixtures.ts';
import { createNodeSecrets, loadCredentialProviders } from './node-credentials.ts';

onContainerd('containerd pulls a private image with the credentials of a plugin', (title) =>
  test(title, { timeout: 60_000 }, testPrivateImage),
);

async function testPrivateImage(context: TestContext): Promise<void> {
  const registry = await startRegistry(context, 'plugin:hunter2');
  const containerd = await startContainerd();
  context.after(containerd.dispose);
  const stop = new AbortController();
  context.after(() => stop.abort());
  const { signal } = stop;
  const runtime = createGrpcRuntime({ clock: systemClock, endpoint: containerd.endpoint, signal });
  const binDirectory = join(containerd.directory, 'plugins');
  const configFile = join(containerd.directory, 'plugins.json');
  const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
  const auth = { [registry]: { username: 'plugin', password: 'hunter2' } };
  const response = { kind: 'CredentialProviderResponse', apiVersion, cacheKeyType: 'Registry', auth };
  const provider = { name: 'plugin', matchImages: [registry], defaultCacheDuration: '1m', apiVersion };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  mkdirSync(binDirectory);
  writeFileSync(join(binDirectory, 'plugin'), `#!/bin/sh\necho '${JSON.stringify(response)}'\n`, { mode: 0o755 });
  writeFileSync(configFile, JSON.stringify(config));
  const plugins = { clock: systemClock, log: silentLog, environment: {} };
  const providers = await loadCredentialProviders({ configFile, binDirectory }, plugins, signal);

  const pull = (sources: { readonly providers?: typeof providers }) => {
    const nodeSecrets = createNodeSecrets({ ...sources, files: runtime.files, dockerConfig: {}, log: silentLog });
    const images = createImageManager(runtime, systemClock, { onChange() {}, nodeSecrets });
    return images.ensureImageExists({
      pod: makePod(),
      container: makeContainer('c', { image: `${registry}/team/app:1` }),
      sandboxConfig: { metadata: { name: 'web', namespace: 'default', uid: 'u', attempt: 0 } },
      secrets: [],
      backOff: createBackOff(systemClock),
      lastErrors: new Map(),
      record() {},
      signal,
    });
  };
  await assert.rejects(pull({}), { reason: 'ErrImagePull', message: /401|authorization failed|no basic auth/ });
  const { image } = await pull({ providers });
  assert.deepEqual(image?.repoTags, [`${registry}/team/app:1`]);
}

/** Starts a registry with one image and one user; returns its host and port. */
async function startRegistry(context: TestContext, user: string): Promise<string> {
  const digestOf = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
  // An empty archive is two blocks of zeros.
  const archive = Buffer.alloc(1024);
  const layer = gzipSync(archive);
  const rootfs = { type: 'layers', diff_ids: [digestOf(archive)] };
  const imageConfig = Buffer.from(
    JSON.stringify({ architecture: process.arch === 'arm64' ? 'arm64' : 'amd64', os: 'linux', config: {}, rootfs }),
  );
  const described = (mediaType: string, content: Buffer) => ({
    mediaType,
    digest: digestOf(content),
    size: content.length,
  });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType,
      config: described('application/vnd.oci.image.config.v1+json', imageConfig),
      layers: [described('application/vnd.oci.image.layer.v1.tar+gzip', layer)],
    }),
  );
  const contents = new Map([manifest, imageConfig, layer].map((content) => [digestOf(content), content]));
  const expected = `Basic ${Buffer.from(user).toString('base64')}`;
  const server = createServer((request, answer) => {
    if (request.headers.authorization !== expected) {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
      return;
    }
    const reference = (request.url ?? '').split('?')[0]!.split('/').at(-1)!;
    const content = reference === '1' ? manifest : contents.get(reference);
    if (!content) {
      answer.writeHead(404).end();
      return;
    }
    const type = content === manifest ? mediaType : 'application/octet-stream';
    const headers = { 'content-type': type, 'content-length': content.length };
    answer.writeHead(200, { ...headers, 'docker-content-digest': digestOf(content) });
    answer.end(request.method === 'HEAD' ? undefined : content);
  }).listen(0, '127.0.0.1');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  // Listening on an address and not on a pipe, so that the address is an object.
  const { port } = server.address() as AddressInfo;
  return `127.0.0.1:${port}`;
}
