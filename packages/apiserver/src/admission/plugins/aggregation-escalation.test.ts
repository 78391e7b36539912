import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { Client } from '@kruise/client/client';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
const apiGroup = 'rbac.authorization.k8s.io';
const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { 'team.example.com/edit': 'true' } }] };

const writeRoles: PolicyRule = {
  verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
  apiGroups: [apiGroup],
  resources: ['clusterroles', 'clusterrolebindings'],
};
const everyResource: PolicyRule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const everyUrl: PolicyRule = { verbs: ['*'], nonResourceURLs: ['*'] };
const escalate: PolicyRule = { verbs: ['escalate'], apiGroups: [apiGroup], resources: ['clusterroles'] };

/** Creates a user with these rules cluster-wide. */
async function userWith(username: string, ...rules: readonly PolicyRule[]): Promise<Client> {
  await server.client.create(clusterRole, { metadata: { name: username }, rules });
  await server.client.create(clusterRoleBinding, {
    metadata: { name: username },
    roleRef: { apiGroup, kind: 'ClusterRole', name: username },
    subjects: [{ kind: 'User', name: username, apiGroup }],
  });
  await server.core.feed.waitForCurrent();
  return server.clientOf({ username, groups: [] });
}

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: Error & { code?: number }) => `${error.code} ${error.message}`,
  );
const refused = (name: string) =>
  `403 clusterroles.rbac.authorization.k8s.io "${name}" is forbidden: must have cluster-admin privileges to use the aggregationRule`;
const aggregated = (name: string) => ({
  apiVersion: `${apiGroup}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  aggregationRule,
});

let bob: Client;

before(async () => {
  server = await startTestServer();
  bob = await userWith('bob', writeRoles);
  await server.client.create(clusterRole, aggregated('existing'));
  await server.client.create(clusterRole, { metadata: { name: 'plain' }, rules: [] });
});
after(() => server.close());

test('a user without cluster-admin rights creates no aggregated ClusterRole', async () => {
  assert.equal(await outcome(bob.create(clusterRole, aggregated('made'))), refused('made'));
});

test('a user without cluster-admin rights replaces no ClusterRole by an aggregated one', async () => {
  const plain = await bob.get(clusterRole, { name: 'plain' });
  assert.equal(await outcome(bob.update(clusterRole, { ...plain, aggregationRule })), refused('plain'));
});

test('a user without cluster-admin rights applies no aggregated ClusterRole', async () => {
  for (const name of ['plain', 'applied']) {
    assert.equal(await outcome(bob.apply(clusterRole, aggregated(name), { fieldManager: 'bob' })), refused(name));
  }
});

test('a user without cluster-admin rights patches no aggregated ClusterRole', async () => {
  const changes = [
    { aggregationRule: { clusterRoleSelectors: [{}] } },
    { aggregationRule: null },
    { metadata: { labels: { a: 'b' } } },
  ];
  for (const change of changes) {
    const patched = bob.patch(clusterRole, { name: 'existing' }, change, { type: 'merge' });
    assert.equal(await outcome(patched), refused('existing'));
  }
});

test('the garbage collector may orphan an aggregated ClusterRole', async () => {
  const change = { metadata: { finalizers: ['example.com/hold'] } };
  assert.equal(await outcome(bob.patch(clusterRole, { name: 'existing' }, change, { type: 'merge' })), 'done');
});

test('every verb but escalate on all resources does not suffice to write an aggregated ClusterRole', async () => {
  const limited = await userWith('limited', everyUrl, {
    ...everyResource,
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  });
  assert.equal(await outcome(limited.create(clusterRole, aggregated('limited-made'))), refused('limited-made'));
});

test('a user with cluster-admin rights writes an aggregated ClusterRole', async () => {
  const admin = await userWith('admin-like', everyResource, everyUrl);
  assert.equal(await outcome(admin.create(clusterRole, aggregated('by-admin'))), 'done');
});

test('a user who may escalate ClusterRoles writes an aggregated ClusterRole', async () => {
  const escalator = await userWith('escalator', writeRoles, escalate);
  assert.equal(await outcome(escalator.create(clusterRole, aggregated('by-escalator'))), 'done');
});

test('fields of the object do not make a role a binding', async () => {
  const disguised = {
    metadata: { name: 'disguised' },
    rules: [everyResource],
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'plain' },
  };
  const answer = await outcome(bob.create(clusterRole, disguised as never));
  assert.match(answer, /^403 .* is attempting to grant RBAC permissions not currently held/);
});

test('the role of a binding cannot be replaced', async () => {
  const client = await userWith('rebinder', writeRoles, { ...escalate, verbs: ['bind'] });
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' };
  const patched = client.patch(clusterRoleBinding, { name: 'rebinder' }, { roleRef }, { type: 'merge' });
  assert.match(await outcome(patched), /^422 .*cannot change roleRef$/s);
});

test('a user adds no subjects to a binding of permissions that the user lacks', async () => {
  const change = { subjects: [{ kind: 'User', name: 'bob', apiGroup }] };
  const patched = bob.patch(clusterRoleBinding, { name: 'cluster-admin' }, change, { type: 'merge' });
  assert.match(await outcome(patched), /^403 .*is attempting to grant RBAC permissions not currently held/s);
});
