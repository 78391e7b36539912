import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { role } from '@kruise/api/rbac/role';
import { roleBinding } from '@kruise/api/rbac/rolebinding';
import type { Subject } from '@kruise/api/rbac/subject';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import type { User } from '../user.ts';
import type { Attributes, Decision } from './authorizer.ts';

let server: TestServer;
let spaces = 0;

before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const apiGroup = 'rbac.authorization.k8s.io';
const user = (username: string, ...groups: readonly string[]): User => ({ username, groups });

async function ask(subject: User, verb: string, plural: string, place: string, name = ''): Promise<Decision> {
  await server.core.feed.waitForCurrent();
  const wanted: Attributes = {
    user: subject,
    verb,
    resource: true,
    group: '',
    version: 'v1',
    plural,
    subresource: '',
    namespace: place,
    name,
  };
  return server.core.authorizer.authorize(wanted);
}

/** Creates a namespace in which the subjects may read Pods. */
async function spaceFor(...subjects: readonly Subject[]): Promise<string> {
  const name = `space-${++spaces}`;
  const { client } = server;
  await client.create(namespace, { metadata: { name } });
  const rules = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }];
  await client.create(role, { metadata: { name: 'reader', namespace: name }, rules });
  await client.create(roleBinding, {
    metadata: { name: 'readers', namespace: name },
    roleRef: { apiGroup, kind: 'Role', name: 'reader' },
    subjects,
  });
  return name;
}

test('a role grants permissions in its namespace only', async () => {
  const place = await spaceFor({ kind: 'User', name: 'ann' });
  assert.deepEqual(await ask(user('ann'), 'get', 'pods', place), {
    verdict: 'allow',
    reason: `RBAC: allowed by RoleBinding "readers/${place}" of Role "reader" to User "ann"`,
  });
  assert.equal((await ask(user('ann'), 'delete', 'pods', place)).verdict, 'no-opinion');
  assert.equal((await ask(user('ann'), 'get', 'pods', 'default')).verdict, 'no-opinion');
  assert.equal((await ask(user('ann'), 'list', 'pods', '')).verdict, 'no-opinion');
});

test('a group member has the permissions of the group', async () => {
  const place = await spaceFor({ kind: 'Group', name: 'team' });
  assert.equal((await ask(user('bob', 'others', 'team'), 'get', 'pods', place)).verdict, 'allow');
  assert.equal((await ask(user('team'), 'get', 'pods', place)).verdict, 'no-opinion');
});

test('a ServiceAccount subject without a namespace is in the namespace of the binding', async () => {
  const place = await spaceFor({ kind: 'ServiceAccount', name: 'robot' });
  const { verdict, reason } = await ask(user(`system:serviceaccount:${place}:robot`), 'get', 'pods', place);
  assert.equal(verdict, 'allow');
  assert.match(reason, new RegExp(`to ServiceAccount "robot/${place}"$`));
  assert.equal((await ask(user('system:serviceaccount:default:robot'), 'get', 'pods', place)).verdict, 'no-opinion');
});

test('a decision changes with its binding', async () => {
  const place = await spaceFor({ kind: 'User', name: 'carl' });
  assert.equal((await ask(user('carl'), 'get', 'pods', place)).verdict, 'allow');
  await server.client.delete(roleBinding, { name: 'readers', namespace: place });
  assert.equal((await ask(user('carl'), 'get', 'pods', place)).verdict, 'no-opinion');
});

test('a decision changes with its role', async () => {
  const place = await spaceFor({ kind: 'User', name: 'dora' });
  assert.equal((await ask(user('dora'), 'delete', 'pods', place)).verdict, 'no-opinion');
  const rules = [{ verbs: ['*'], apiGroups: [''], resources: ['pods'] }];
  await server.client.patch(role, { name: 'reader', namespace: place }, { rules }, { type: 'merge' });
  assert.equal((await ask(user('dora'), 'delete', 'pods', place)).verdict, 'allow');
});

test('a binding to a missing role is reported, and grants nothing', async () => {
  await server.client.create(clusterRoleBinding, {
    metadata: { name: 'dangling' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'absent' },
    subjects: [{ kind: 'User', name: 'eve' }],
  });
  assert.deepEqual(await ask(user('eve'), 'get', 'pods', 'default'), {
    verdict: 'no-opinion',
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "absent" not found',
  });
});

test('a ClusterRoleBinding grants permissions in every namespace', async () => {
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['nodes', 'pods'], resourceNames: ['one'] }];
  await server.client.create(clusterRole, { metadata: { name: 'one-of-all' }, rules });
  await server.client.create(clusterRoleBinding, {
    metadata: { name: 'one-of-all' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'one-of-all' },
    subjects: [{ kind: 'User', name: 'fred' }],
  });
  assert.equal((await ask(user('fred'), 'get', 'pods', 'kube-system', 'one')).verdict, 'allow');
  assert.equal((await ask(user('fred'), 'get', 'nodes', '', 'one')).verdict, 'allow');
  assert.equal((await ask(user('fred'), 'get', 'nodes', '', 'two')).verdict, 'no-opinion');
});

test('a rule with resource names applies to no other name, in either order of requests', async () => {
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['one'] },
    { verbs: ['get'], apiGroups: [''], resources: ['services'] },
  ];
  await server.client.create(clusterRole, { metadata: { name: 'by-name' }, rules });
  await server.client.create(clusterRoleBinding, {
    metadata: { name: 'by-name' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'by-name' },
    subjects: [{ kind: 'User', name: 'gil' }],
  });
  const verdict = async (plural: string, name: string) =>
    (await ask(user('gil'), 'get', plural, 'default', name)).verdict;
  for (let round = 0; round < 2; round++) {
    assert.equal(await verdict('secrets', 'two'), 'no-opinion');
    assert.equal(await verdict('secrets', 'one'), 'allow');
    assert.equal(await verdict('secrets', ''), 'no-opinion');
    assert.equal(await verdict('services', 'one'), 'allow');
    assert.equal(await verdict('services', 'two'), 'allow');
  }
});

test('system:masters may do everything, whatever the roles say', async () => {
  assert.deepEqual(await ask(user('root', 'system:masters'), 'anything', 'things', 'nowhere'), {
    verdict: 'allow',
    reason: '',
  });
});

test('a decision is memoized for one user and request, whatever characters their names have', async () => {
  const place = await spaceFor({ kind: 'Group', name: 'readers' });
  // The separator between the groups and the verb in a key is itself a group here.
  const forged: User = { username: 'eve', groups: ['a\0readers', '\0get'] };
  assert.equal((await ask(forged, 'list', 'pods', place)).verdict, 'no-opinion');
  assert.equal((await ask(user('eve', 'a', 'readers'), 'list', 'pods', place)).verdict, 'allow');
  assert.equal((await ask(user('eve', 'a,7:readers'), 'list', 'pods', place)).verdict, 'no-opinion');
  assert.equal((await ask(user('eve', 'a\0readers'), 'list', 'pods', place)).verdict, 'no-opinion');
  assert.equal((await ask(user('eve\0a', 'readers'), 'list', 'pods', place)).verdict, 'allow');
  assert.equal((await ask(user('eve', 'a', 'reader'), 'list', 'pods', place)).verdict, 'no-opinion');
});
