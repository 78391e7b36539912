import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lease } from '@kruise/api/coordination/lease';
import { configMap } from '@kruise/api/core/configmap';
import { role } from '@kruise/api/rbac/role';
import { roleBinding } from '@kruise/api/rbac/rolebinding';
import type { Client } from '@kruise/client/client';
import { isForbidden, StatusError } from '@kruise/machinery/status';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

for (const way of ['in process', 'over HTTPS'] as const) {
  describe(`a create by another verb, ${way}`, () => {
    let server: TestServer;
    let editor: Client;

    before(async () => {
      server = await startTestServer({ https: way === 'over HTTPS' });
      const { client, clientOf } = server;
      editor = clientOf({ username: 'editor', groups: [] });
      const rule = { apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'] };
      for (const [name, verbs] of [
        ['editor', ['get', 'update', 'patch']],
        ['creator', ['create', 'update', 'patch']],
      ] as const) {
        await client.create(role, { metadata: { name, namespace: 'default' }, rules: [{ ...rule, verbs }] });
        await client.create(roleBinding, {
          metadata: { name, namespace: 'default' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
          subjects: [{ kind: 'User', name }],
        });
      }
    });
    after(() => server.close());

    const apply = (client: Client, name: string, options = {}) =>
      client.apply(
        configMap,
        { metadata: { name, namespace: 'default' }, data: { a: 'b' } },
        { fieldManager: 'test', ...options },
      );
    const put = (client: Client, name: string) =>
      client.update(lease, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: 'default' },
        spec: { holderIdentity: 'me' },
      });

    const refused = (plural: string, group: string, name: string) => (error: unknown) => {
      assert.ok(isForbidden(error) && error instanceof StatusError);
      const described = group === '' ? plural : `${plural}.${group}`;
      assert.equal(
        error.status.message,
        `${described} "${name}" is forbidden: User "editor" cannot create resource "${plural}" in API group "${group}" in the namespace "default"`,
      );
      return true;
    };

    test('a server-side apply that would create needs the verb create', async () => {
      await assert.rejects(apply(editor, 'applied'), refused('configmaps', '', 'applied'));
      await assert.rejects(apply(editor, 'applied', { dryRun: true }), refused('configmaps', '', 'applied'));
      await apply(server.clientOf({ username: 'creator', groups: [] }), 'applied');
      await apply(editor, 'applied');
    });

    test('an update that would create needs the verb create', async () => {
      await assert.rejects(put(editor, 'held'), refused('leases', 'coordination.k8s.io', 'held'));
      await put(server.clientOf({ username: 'creator', groups: [] }), 'held');
    });

    test('an invalid object is rejected as invalid first', async () => {
      await assert.rejects(put(editor, 'NOT VALID'), (error: unknown) => {
        assert.ok(error instanceof StatusError);
        return error.code === 422;
      });
    });
  });
}
