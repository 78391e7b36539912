import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { builtinKinds } from '@kruise/api/builtin';
import { customScaleTable, scaleTable, tableColumnsOf } from './columns.ts';

const described = [
  ...builtinKinds.map((kind) => ({ of: kind.kind, columns: tableColumnsOf(kind).columns })),
  { of: 'Scale', columns: scaleTable.columns },
  { of: 'Scale of a custom resource', columns: customScaleTable.columns },
].flatMap(({ of, columns }) => columns.map(({ name, description }) => ({ column: `${of}: ${name}`, description })));

test('every column has a description, except the one without in Kubernetes', () => {
  const without = described.filter(({ description }) => description === '').map(({ column }) => column);
  assert.deepEqual(without, ['RuntimeClass: Handler']);
});

const cases = [
  ['Namespace: Status', 'The status of the namespace'],
  ['RoleBinding: Users', 'Users in the roleBinding'],
  ['ClusterRoleBinding: Users', 'Users in the clusterRoleBinding'],
  ['ReplicaSet: Ready', 'The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.'],
  ['ReplicationController: Ready', 'The number of ready replicas for this replication controller.'],
  ['Scale: Desired', 'replicas is the desired number of instances for the scaled object.'],
  ['Scale of a custom resource: Desired', 'Number of desired replicas'],
  [
    'ValidatingAdmissionPolicyBinding: PolicyName',
    'PolicyName indicates the policy definition which the policy binding binded to',
  ],
] as const;
for (const [column, description] of cases) {
  test(`${column} has the description of Kubernetes`, () => {
    assert.equal(described.find((each) => each.column === column)?.description, description);
  });
}

test('the descriptions equal those of kube-apiserver v1.33.4, including errors', () => {
  const lines = new Set(described.map(({ column, description }) => `${column} ${description}`));
  const digest = createHash('sha256')
    .update([...lines].sort().join('\n'))
    .digest('hex');
  assert.equal(digest, '577a03e7c56293ed6a69d5400b6cc789d87ef3c6b684c5aa34ccddd24bd49751');
});
