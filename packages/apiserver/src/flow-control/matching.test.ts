import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlowSchema } from '@kruise/api/flowcontrol/flowschema';
import { defaultFlowControl } from '../bootstrap/flow-control.ts';
import { requestInfo } from '../request-info.ts';
import type { User } from '../user.ts';
import { createMatcher } from './matching.ts';

const schemas = defaultFlowControl().filter(({ kind }) => kind === 'FlowSchema') as readonly FlowSchema[];
const match = createMatcher(schemas);

const user = (username: string, ...groups: readonly string[]): User => ({
  username,
  groups: [...groups, username === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated'],
});
const account = (namespace: string, name: string) =>
  user(`system:serviceaccount:${namespace}:${name}`, 'system:serviceaccounts', `system:serviceaccounts:${namespace}`);

const cases: readonly [string, User, string, string, string][] = [
  ['an administrator is exempt', user('admin', 'system:masters'), 'GET', '/api/v1/pods', 'exempt'],
  ['a probe of any user is exempt', user('system:anonymous'), 'GET', '/readyz', 'probes'],
  ['another non-resource endpoint is not exempt', user('system:anonymous'), 'GET', '/version', 'global-default'],
  [
    'a scheduler renews its Lease',
    user('system:kube-scheduler'),
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler',
    'system-leader-election',
  ],
  ['a scheduler sends other requests', user('system:kube-scheduler'), 'GET', '/api/v1/pods', 'kube-scheduler'],
  [
    'a node updates its own status',
    user('system:node:a', 'system:nodes'),
    'PATCH',
    '/api/v1/nodes/a/status',
    'system-node-high',
  ],
  ['a node updates its Pods', user('system:node:a', 'system:nodes'), 'GET', '/api/v1/pods', 'system-nodes'],
  [
    'a ServiceAccount of kube-system',
    account('kube-system', 'x'),
    'GET',
    '/api/v1/pods',
    'kube-system-service-accounts',
  ],
  ['a ServiceAccount of another namespace', account('default', 'x'), 'GET', '/api/v1/pods', 'service-accounts'],
  ['anyone else', user('alice'), 'GET', '/api/v1/pods', 'global-default'],
];
for (const [name, sender, method, path, expected] of cases) {
  test(name, () => {
    assert.equal(match(sender, requestInfo(method, path, new URLSearchParams()))?.metadata.name, expected);
  });
}

test('a schema without cluster scope does not match a request about all namespaces', () => {
  const narrow: FlowSchema = {
    kind: 'FlowSchema',
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    metadata: { name: 'narrow' },
    spec: {
      matchingPrecedence: 1,
      priorityLevelConfiguration: { name: 'x' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: '*' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['a'] }],
        },
      ],
    },
  };
  const matches = (path: string) =>
    createMatcher([narrow])(user('alice'), requestInfo('GET', path, new URLSearchParams())) !== undefined;
  assert.ok(matches('/api/v1/namespaces/a/pods'));
  assert.ok(!matches('/api/v1/namespaces/b/pods'));
  assert.ok(!matches('/api/v1/pods'));
});
