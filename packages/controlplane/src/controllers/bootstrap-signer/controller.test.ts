import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { type Secret, secret } from '@kruise/api/core/secret';
import { formatTime } from '@kruise/values/time';
import fc from 'fast-check';
import { type Cluster, startCluster } from '../../testing/cluster.ts';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

const info = { namespace: 'kube-public', name: 'cluster-info' };

async function startSigning(): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.client.create(configMap, { metadata: info, data: { kubeconfig: 'clusters', other: 'stays' } });
  await cluster.run(['bootstrap-signer-controller', 'token-cleaner-controller']);
  return cluster;
}

const give = ({ client }: Cluster, id: string, more: { readonly [field: string]: string } = {}) =>
  client.create(secret, {
    metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': id, 'token-secret': 'fedcba9876543210', 'usage-bootstrap-signing': 'true', ...more },
  });

async function dataOf(cluster: Cluster) {
  await cluster.advance(1);
  return (await cluster.client.get(configMap, info)).data;
}

test('cluster-info is signed with every token that may sign', async () => {
  await using cluster = await startSigning();
  await give(cluster, 'abcdef');
  await give(cluster, 'silent', { 'usage-bootstrap-signing': 'false' });
  await give(cluster, 'gone00', { expiration: formatTime(cluster.clock.now() - 1000) });

  const header = Buffer.from('{"alg":"HS256","kid":"abcdef"}').toString('base64url');
  const signed = `${header}.${Buffer.from('clusters').toString('base64url')}`;
  const signature = createHmac('sha256', 'fedcba9876543210').update(signed).digest('base64url');
  assert.deepEqual(await dataOf(cluster), {
    kubeconfig: 'clusters',
    other: 'stays',
    'jws-kubeconfig-abcdef': `${header}..${signature}`,
  });
  assert.deepEqual(cluster.warnings, []);
});

test('a signature follows the content, and is deleted with its token', async () => {
  await using cluster = await startSigning();
  const { client } = cluster;
  await give(cluster, 'abcdef');
  const before = (await dataOf(cluster))?.['jws-kubeconfig-abcdef'];
  await client.patch(configMap, info, { data: { kubeconfig: 'others' } }, { type: 'merge' });
  const after = (await dataOf(cluster))?.['jws-kubeconfig-abcdef'];
  assert.ok(before && after && before !== after);
  await client.delete(secret, { namespace: 'kube-system', name: 'bootstrap-token-abcdef' });
  assert.deepEqual(await dataOf(cluster), { kubeconfig: 'others', other: 'stays' });
});

test('an expired token is deleted together with its signature', async () => {
  await using cluster = await startSigning();
  await give(cluster, 'abcdef', { expiration: formatTime(cluster.clock.now() + 60_000) });
  assert.ok((await dataOf(cluster))?.['jws-kubeconfig-abcdef']);
  await cluster.advance(60);
  assert.deepEqual(await dataOf(cluster), { kubeconfig: 'clusters', other: 'stays' });
  const { items } = await cluster.client.list(secret, { namespace: 'kube-system' });
  assert.deepEqual(items, []);
  assert.deepEqual(cluster.warnings, []);
});

test('any existing signatures are replaced by those of the signing tokens, once', () => {
  const now = Date.UTC(2026, 0, 1);
  const encode = (fields: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(fields).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
  const tokenOf = (id: string, seconds: number): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
    data: encode({
      'token-id': id,
      'token-secret': 'fedcba9876543210',
      'usage-bootstrap-signing': 'true',
      expiration: formatTime(now + seconds * 1000),
    }),
  });
  const tokens = fc.uniqueArray(fc.tuple(fc.constantFrom('aaaaaa', 'bbbbbb'), fc.constantFrom(-60, 60)), {
    selector: ([id]) => id,
  });
  const present = fc.subarray(['aaaaaa', 'cccccc']);
  fc.assert(
    fc.property(tokens, present, (given, signed) => {
      const old = Object.fromEntries(signed.map((id) => [`jws-kubeconfig-${id}`, 'old']));
      const before: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: info,
        data: { kubeconfig: 'clusters', ...old },
      };
      const found = given.map(([id, seconds]) => tokenOf(id, seconds));
      const after = objectAfter(before, decide({ info: before, tokens: found }, now))!;
      assert.deepEqual(decide({ info: after, tokens: found }, now).actions, []);
      const signers = given.filter(([, seconds]) => seconds > 0).map(([id]) => `jws-kubeconfig-${id}`);
      assert.deepEqual(new Set(Object.keys(after.data ?? {})), new Set(['kubeconfig', ...signers]));
    }),
  );
});
