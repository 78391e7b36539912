import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { decodeJwt, isSignedBy, verificationKey } from '@kruise/apiserver/authentication/jwt';
import { isNotFound } from '@kruise/machinery/status';
import { startCluster } from '../../testing/cluster.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const serviceAccountKey = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const settings = { serviceAccountKey, rootAuthorities: 'trusted' };
const robot = { namespace: 'default', name: 'robot' };
const kept = { namespace: 'default', name: 'robot-token' };
const asking = {
  metadata: { ...kept, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
  type: 'kubernetes.io/service-account-token',
};
const textOf = (data: string | undefined) => Buffer.from(data ?? '', 'base64').toString();

test('a token Secret is populated, and deleted with its account', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['serviceaccount-token-controller'], settings);
  const account = await client.create(serviceAccount, { metadata: robot });
  await client.create(secret, asking);
  await cluster.advance(1);

  const { data, metadata } = await client.get(secret, kept);
  assert.equal(metadata.annotations?.['kubernetes.io/service-account.uid'], account.metadata.uid);
  assert.deepEqual([textOf(data?.['ca.crt']), textOf(data?.['namespace'])], ['trusted', 'default']);
  const token = decodeJwt(textOf(data?.['token']));
  assert.ok(token && isSignedBy(token, [verificationKey(privateKey)]));
  assert.deepEqual(token.claims, {
    iss: 'kubernetes/serviceaccount',
    'kubernetes.io/serviceaccount/namespace': 'default',
    'kubernetes.io/serviceaccount/secret.name': 'robot-token',
    'kubernetes.io/serviceaccount/service-account.name': 'robot',
    'kubernetes.io/serviceaccount/service-account.uid': account.metadata.uid,
    sub: 'system:serviceaccount:default:robot',
  });

  await client.delete(serviceAccount, robot);
  await cluster.advance(1);
  await assert.rejects(client.get(secret, kept), isNotFound);
  assert.deepEqual(cluster.warnings, []);
});

test('the token of a recreated account is deleted, too', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await client.create(serviceAccount, { metadata: robot });
  const annotations = { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': 'earlier' };
  await client.create(secret, asking);
  await client.patch(secret, kept, { metadata: { annotations } }, { type: 'merge' });
  await cluster.run(['serviceaccount-token-controller'], settings);
  await cluster.advance(1);
  await assert.rejects(client.get(secret, kept), isNotFound);
});

test('an account loses the reference to a deleted token Secret, and no other', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['serviceaccount-token-controller'], settings);
  await client.create(serviceAccount, { metadata: robot, secrets: [{ name: kept.name }, { name: 'yet-to-come' }] });
  await client.create(secret, asking);
  await cluster.advance(1);
  await client.delete(secret, kept);
  await cluster.advance(1);
  assert.deepEqual((await client.get(serviceAccount, robot)).secrets, [{ name: 'yet-to-come' }]);
  assert.deepEqual(cluster.warnings, []);
});
