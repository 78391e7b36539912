import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { validatingAdmissionPolicyBinding } from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { isInvalid } from '@kruise/machinery/status';
import { startTestServer } from '../testing/test-server.ts';

const server = await startTestServer();
after(() => server.close());
const writer = server.clientOf({ username: 'writer', groups: [] });
const apiGroup = 'rbac.authorization.k8s.io';

async function allow(name: string, rules: readonly object[]): Promise<void> {
  await server.client.create(clusterRole, { metadata: { name }, rules } as never);
  const roleRef = { apiGroup, kind: 'ClusterRole', name };
  const subjects = [{ apiGroup, kind: 'User', name: 'writer' }];
  await server.client.create(clusterRoleBinding, { metadata: { name }, roleRef, subjects } as never);
}

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const policy = (name: string) => ({
  metadata: { name },
  spec: {
    paramKind: { apiVersion: 'v1', kind: 'Secret' },
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'true' }],
  },
});
const bound = (name: string, policyName: string) => ({
  metadata: { name },
  spec: {
    policyName,
    validationActions: ['Deny'],
    paramRef: { name: 's', namespace: 'default', parameterNotFoundAction: 'Deny' },
  },
});

test('a user who may not read the params of a policy may not write the policy', async () => {
  await allow('policies', [{ apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] }]);
  await assert.rejects(writer.create(validatingAdmissionPolicy, policy('p') as never), (error) => {
    assert.ok(isInvalid(error));
    assert.match(
      String(error),
      /spec\.paramKind: Forbidden: user &{writer .* must have "get" permission on all objects/,
    );
    return true;
  });
  await server.client.create(validatingAdmissionPolicy, policy('p') as never);
  await assert.rejects(writer.create(validatingAdmissionPolicyBinding, bound('b', 'p') as never), isInvalid);
  await allow('secrets', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]);
  await writer.create(validatingAdmissionPolicyBinding, bound('b', 'p') as never);
  await writer.create(validatingAdmissionPolicy, policy('q') as never);
});
