import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TokenRequestSpec, tokenRequest } from '@kruise/api/authentication/tokenrequest';
import { tokenReview } from '@kruise/api/authentication/tokenreview';
import { namespace } from '@kruise/api/core/namespace';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { virtualClock } from '@kruise/values/virtual-clock';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { decodeJwt } from './jwt.ts';

let server: TestServer;
let spaces = 0;
const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
const issuer = 'https://kubernetes.default.svc.cluster.local';
const hour = 3600;

before(async () => {
  server = await startTestServer({ clock, admission: [] });
});
after(() => server.close());

async function space(): Promise<string> {
  const name = `space-${++spaces}`;
  await server.client.create(namespace, { metadata: { name } });
  await server.client.create(serviceAccount, { metadata: { name: 'robot', namespace: name } });
  return name;
}

async function request(place: string, spec: Partial<TokenRequestSpec> = {}, name = 'robot'): Promise<string> {
  const asked = { spec: { audiences: [], ...spec } };
  const token = { name: 'token', kind: tokenRequest };
  const made = await server.client.post(serviceAccount, { name, namespace: place }, token, asked);
  return made.status!.token;
}

const bound = (kind: string, name: string, uid?: string) => ({
  boundObjectRef: { kind, apiVersion: 'v1', name, ...(uid === undefined ? {} : { uid }) },
});

async function review(token: string, audiences?: readonly string[]) {
  await server.core.feed.waitForCurrent();
  const { status } = await server.client.create(tokenReview, {
    metadata: {},
    spec: { token, ...(audiences ? { audiences } : {}) },
  });
  return status!;
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'made',
    (error: Error) => error.message,
  );

test('a token authenticates its ServiceAccount, for the API server only', async () => {
  const place = await space();
  const token = await request(place);
  const { authenticated, user, audiences } = await review(token);
  assert.equal(authenticated, true);
  assert.equal(user?.username, `system:serviceaccount:${place}:robot`);
  assert.deepEqual(user?.groups, ['system:serviceaccounts', `system:serviceaccounts:${place}`, 'system:authenticated']);
  assert.deepEqual(audiences, [issuer]);
  assert.equal(
    (await review(token, ['other'])).error,
    `[invalid bearer token, token audiences ["${issuer}"] is invalid for the target audiences ["other"]]`,
  );
});

test('a token for another audience is not valid for the API server', async () => {
  const token = await request(await space(), { audiences: ['vault'] });
  assert.equal((await review(token)).authenticated ?? false, false);
  assert.deepEqual((await review(token, ['vault', 'other'])).audiences, ['vault']);
});

test('a token contains its validity period', async () => {
  const claims = decodeJwt(await request(await space()))!.claims;
  const now = clock.now() / 1000;
  assert.deepEqual([claims.iat, claims.nbf, claims.exp], [now, now, now + hour]);
});

test('a token expires after its lifetime and a minute of leeway', async () => {
  const token = await request(await space(), { expirationSeconds: 600 });
  clock.advance(659_000);
  assert.equal((await review(token)).authenticated, true);
  clock.advance(2000);
  assert.equal((await review(token)).error, '[invalid bearer token, service account token has expired]');
});

test('a token is invalid after its ServiceAccount is deleted, also for a new account with the same name', async () => {
  const place = await space();
  const token = await request(place);
  await server.client.delete(serviceAccount, { name: 'robot', namespace: place });
  assert.equal((await review(token)).error, '[invalid bearer token, serviceaccounts "robot" not found]');
  await server.client.create(serviceAccount, { metadata: { name: 'robot', namespace: place } });
  assert.match((await review(token)).error!, /service account UID \(.*\) does not match claim/);
});

test('a Pod-bound token is invalid after the Pod is deleted, and names the node', async () => {
  const place = await space();
  await server.client.create(node, { metadata: { name: `node-${place}` } });
  const containers = [{ name: 'c', image: 'i' }];
  const metadata = { name: 'p', namespace: place };
  const spec = { serviceAccountName: 'robot', nodeName: `node-${place}`, containers };
  await server.client.create(pod, { metadata, spec });
  const token = await request(place, bound('Pod', 'p'));
  const { user } = await review(token);
  assert.deepEqual(user?.extra?.['authentication.kubernetes.io/pod-name'], ['p']);
  assert.deepEqual(user?.extra?.['authentication.kubernetes.io/node-name'], [`node-${place}`]);
  await server.client.delete(pod, metadata, { gracePeriodSeconds: 0 });
  assert.equal((await review(token)).error, '[invalid bearer token, service account token has been invalidated]');
});

test('a Secret-bound token is invalid after the Secret is deleted', async () => {
  const place = await space();
  const metadata = { name: 's', namespace: place };
  await server.client.create(secret, { metadata });
  const token = await request(place, bound('Secret', 's'));
  assert.equal((await review(token)).authenticated, true);
  await server.client.delete(secret, metadata);
  assert.equal((await review(token)).error, '[invalid bearer token, service account token has been invalidated]');
});

test('a token for a Pod that may not refresh it is valid for a year, and contains warnafter', async () => {
  const place = await space();
  const containers = [{ name: 'c', image: 'i' }];
  await server.client.create(pod, {
    metadata: { name: 'p', namespace: place },
    spec: { serviceAccountName: 'robot', containers },
  });
  const token = await request(place, { ...bound('Pod', 'p'), expirationSeconds: 3607 });
  const claims = decodeJwt(token)!.claims as { iat: number; exp: number; 'kubernetes.io': { warnafter: number } };
  assert.equal(claims.exp - claims.iat, 365 * 24 * hour);
  assert.equal(claims['kubernetes.io'].warnafter - claims.iat, 3607);
});

test('a token request for a missing or mismatched object fails', async () => {
  const place = await space();
  const containers = [{ name: 'c', image: 'i' }];
  const spec = { serviceAccountName: 'other', containers };
  await server.client.create(pod, { metadata: { name: 'p', namespace: place }, spec });
  assert.equal(await refusal(request(place, {}, 'absent')), 'serviceaccounts "absent" not found');
  assert.equal(await refusal(request(place, bound('Pod', 'absent'))), 'pods "absent" not found');
  assert.equal(
    await refusal(request(place, bound('Pod', 'p'))),
    'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
  );
  assert.equal(
    await refusal(request(place, bound('ConfigMap', 'x'))),
    'cannot bind token to object of type /v1, Kind=ConfigMap',
  );
  assert.match(await refusal(request(place, { expirationSeconds: 599 })), /less than 10 minutes/);
});

test('an unknown token and an invalid token have different errors', async () => {
  assert.equal((await review('nonsense')).error, 'invalid bearer token');
});
