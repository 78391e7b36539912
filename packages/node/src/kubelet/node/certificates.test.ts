import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { certificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { startInformer } from '@kruise/client/informer';
import { silentLog } from '@kruise/client/log';
import { createCertificateAuthority, type KeyPair, readRequest } from '@kruise/machinery/x509/certificate';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import {
  isValid,
  nodeClientCertificateSpec,
  requestCertificate,
  rotateCertificates,
  rotationTime,
} from './certificates.ts';

const start = Date.UTC(2026, 0, 1);
const day = 24 * 3600_000;
const bootstrapper = {
  username: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers', 'system:masters', 'system:authenticated'],
};

/** Approves and signs every certificate signing request, as the controllers of a cluster do; or denies them. */
function signAll(
  server: TestServer,
  clock: ReturnType<typeof virtualClock>,
  verdict: 'sign' | 'deny',
  signal: AbortSignal,
) {
  const authority = createCertificateAuthority('cluster', start);
  const requests: { usages: readonly string[]; signerName: string; generateName: string }[] = [];
  startInformer(server.client, clock, seededRandom(1), certificateSigningRequest, {}, signal).handle(
    async ({ type, object }) => {
      if (type !== 'added') return;
      const { request, usages = [], signerName } = object.spec!;
      requests.push({ usages, signerName, generateName: object.metadata.generateName ?? '' });
      const { subject } = readRequest(Buffer.from(request, 'base64').toString());
      assert.equal(subject.commonName, 'system:node:node-1');
      const condition = {
        type: verdict === 'sign' ? 'Approved' : 'Denied',
        status: 'True',
        reason: 'Test',
        message: 'so be it',
      };
      const approved = await server.client.update(
        certificateSigningRequest,
        { ...object, status: { conditions: [condition] } },
        { subresource: 'approval' },
      );
      if (verdict === 'deny') return;
      const publicKey = createPublicKey({
        key: readRequest(Buffer.from(request, 'base64').toString()).publicKey.export({
          type: 'spki',
          format: 'pem',
        }) as string,
      });
      const certificate = authority.sign({
        subject,
        publicKey,
        usages: ['client auth'],
        nowMs: clock.now(),
        validMs: 10 * day,
      });
      await server.client.update(
        certificateSigningRequest,
        { ...approved, status: { ...approved.status, certificate: Buffer.from(certificate).toString('base64') } },
        { subresource: 'status' },
      );
    },
  );
  return requests;
}

async function settle(clock: ReturnType<typeof virtualClock>, turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await clock.advanceAsync(1);
}

async function startWorld(verdict: 'sign' | 'deny') {
  const clock = virtualClock(start);
  const random = seededRandom('certificates');
  const server = await startTestServer({ clock, random });
  const stop = new AbortController();
  const requests = signAll(server, clock, verdict, stop.signal);
  return {
    clock,
    context: { clock, random, log: silentLog },
    client: server.clientOf(bootstrapper),
    requests,
    stop,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.close();
    },
  };
}

test('a node requests its certificate and receives the one signed for its key', async () => {
  await using world = await startWorld('sign');
  const asked = requestCertificate(world.client, world.context, nodeClientCertificateSpec('node-1'), world.stop.signal);
  await settle(world.clock);
  const { certificate, key } = await asked;
  assert.match(new X509Certificate(certificate).subject, /CN=system:node:node-1/);
  assert.ok(new X509Certificate(certificate).checkPrivateKey((await import('node:crypto')).createPrivateKey(key)));
  assert.deepEqual(world.requests, [
    {
      usages: ['digital signature', 'client auth'],
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      generateName: 'csr-',
    },
  ]);
});

test('a denied request fails with the reason', async () => {
  await using world = await startWorld('deny');
  const asked = requestCertificate(world.client, world.context, nodeClientCertificateSpec('node-1'), world.stop.signal);
  const failed = assert.rejects(asked, /is denied: Test: so be it/);
  await settle(world.clock);
  await failed;
});

test('a certificate is rotated after 70 to 90 percent of its lifetime', async () => {
  await using world = await startWorld('sign');
  let kept: KeyPair | undefined;
  const changes: number[] = [];
  const rotation = {
    client: world.client,
    certificateSpec: () => nodeClientCertificateSpec('node-1'),
    store: { read: () => kept, write: (pair: KeyPair) => void (kept = pair) },
    onChange: () => void changes.push((world.clock.now() - start) / day),
  };
  void rotateCertificates(world.context, rotation, world.stop.signal);
  await settle(world.clock);
  assert.equal(changes.length, 1);
  await world.clock.advanceAsync(6.9 * day);
  assert.equal(changes.length, 1);
  await world.clock.advanceAsync(2.2 * day);
  await settle(world.clock);
  assert.equal(changes.length, 2);
  assert.ok(changes[1]! >= 6.9 && changes[1]! <= 9.1);
});

test('a certificate is valid between its validity times', () => {
  const authority = createCertificateAuthority('cluster', start);
  const { certificate } = authority.issue({
    subject: { commonName: 'a' },
    usages: ['client auth'],
    nowMs: start,
    validMs: day,
  });
  assert.equal(isValid(certificate, start + 1000), true);
  assert.equal(isValid(certificate, start + 2 * day), false);
  const due = rotationTime(certificate, { next: () => 0.5 });
  assert.ok(due > start + 0.7 * day && due < start + 0.9 * day);
});
