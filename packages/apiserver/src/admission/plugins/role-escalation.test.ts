import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { role } from '@kruise/api/rbac/role';
import { roleBinding } from '@kruise/api/rbac/rolebinding';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { Client } from '@kruise/client/client';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let bob: Client;
const place = 'team';
const apiGroup = 'rbac.authorization.k8s.io';

const readPods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const writeRoles: PolicyRule = { verbs: ['*'], apiGroups: [apiGroup], resources: ['roles', 'rolebindings'] };

async function grant(name: string, rules: readonly PolicyRule[]): Promise<void> {
  await server.client.create(role, { metadata: { name, namespace: place }, rules });
  await bind(server.client, name, { kind: 'Role', name }, 'bob');
}

function bind(client: Client, name: string, ref: { readonly kind: string; readonly name: string }, user = 'eve') {
  return client.create(roleBinding, {
    metadata: { name, namespace: place },
    roleRef: { apiGroup, ...ref },
    subjects: [{ kind: 'User', name: user }],
  });
}

const write = (name: string, rules: readonly PolicyRule[]) =>
  bob.create(role, { metadata: { name, namespace: place }, rules });
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: Error) => error.message,
  );

before(async () => {
  server = await startTestServer();
  bob = server.clientOf({ username: 'bob', groups: [] });
  await server.client.create(namespace, { metadata: { name: place } });
  const verbs = ['get', 'list', 'create', 'update', 'patch'];
  await grant('held', [readPods, { verbs, apiGroups: [apiGroup], resources: ['roles', 'rolebindings'] }]);
  await server.client.create(clusterRole, { metadata: { name: 'pod-reader' }, rules: [readPods] });
  await server.client.create(clusterRole, { metadata: { name: 'role-writer' }, rules: [writeRoles] });
  await server.core.feed.waitForCurrent();
});
after(() => server.close());

const lacking = (what: string) =>
  `user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${what}`;

test('a user may write a role with permissions that the user has', async () => {
  assert.equal(await refusal(write('fine', [readPods])), 'done');
});

test('a user may not write a role with permissions that the user lacks', async () => {
  assert.equal(
    await refusal(write('more', [readPods, { verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] }])),
    `roles.rbac.authorization.k8s.io "more" is forbidden: ${lacking('{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}')}`,
  );
});

test('a user may not add permissions to a role that the user lacks', async () => {
  const rules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
  const patched = bob.patch(role, { name: 'held', namespace: place }, { rules }, { type: 'merge' });
  assert.match(await refusal(patched), /\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}$/);
});

test('a user may bind a role with permissions that the user has', async () => {
  assert.equal(await refusal(bind(bob, 'fine', { kind: 'ClusterRole', name: 'pod-reader' })), 'done');
});

test('a user may not bind a role with permissions that the user lacks', async () => {
  assert.equal(
    await refusal(bind(bob, 'more', { kind: 'ClusterRole', name: 'role-writer' })),
    `rolebindings.rbac.authorization.k8s.io "more" is forbidden: ${lacking(
      `{APIGroups:["${apiGroup}"], Resources:["rolebindings"], Verbs:["*"]}\n{APIGroups:["${apiGroup}"], Resources:["roles"], Verbs:["*"]}`,
    )}`,
  );
});

test('a user may not bind a missing role, which could get any permission later', async () => {
  assert.equal(
    await refusal(bind(bob, 'absent', { kind: 'Role', name: 'absent' })),
    'rolebindings.rbac.authorization.k8s.io "absent" not found',
  );
});

test('a user with the bind permission may bind a role with other permissions', async () => {
  await grant('may-bind', [
    { verbs: ['bind'], apiGroups: [apiGroup], resources: ['clusterroles'], resourceNames: ['role-writer'] },
  ]);
  await server.core.feed.waitForCurrent();
  assert.equal(await refusal(bind(bob, 'bound', { kind: 'ClusterRole', name: 'role-writer' })), 'done');
});

test('a user with the escalate permission may write any permission into a role', async () => {
  await grant('may-escalate', [{ verbs: ['escalate'], apiGroups: [apiGroup], resources: ['roles'] }]);
  await server.core.feed.waitForCurrent();
  assert.equal(await refusal(write('anything', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }])), 'done');
});

test('system:masters may write and bind any role', async () => {
  const all = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
  const made = server.client.create(role, { metadata: { name: 'all', namespace: place }, rules: all });
  assert.equal(await refusal(made), 'done');
});
