import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { RequestContext } from '../context.ts';
import { requestInfo } from '../request-info.ts';
import { type AuditPolicy, readPolicy, scopeOf } from './policy.ts';

function request(method: string, path: string, username = 'alice', groups: readonly string[] = []): RequestContext {
  return {
    info: requestInfo(method, path, new URLSearchParams()),
    query: new URLSearchParams(),
    user: { username, groups },
    userAgent: '',
    clock: virtualClock(0),
    random: seededRandom(1),
    signal: new AbortController().signal,
    warnings: new Set(),
    auditAnnotations: new Map(),
  };
}

const policy = (...rules: AuditPolicy['rules']): AuditPolicy =>
  readPolicy({ kind: 'Policy', apiVersion: 'audit.k8s.io/v1', rules });

test('the first matching rule decides', () => {
  const rules = policy({ level: 'None', users: ['bob'] }, { level: 'Metadata' });
  assert.equal(scopeOf(rules, request('GET', '/api/v1/pods', 'bob')).level, 'None');
  assert.equal(scopeOf(rules, request('GET', '/api/v1/pods')).level, 'Metadata');
});

test('a request without a matching rule is not recorded', () => {
  assert.equal(scopeOf(policy({ level: 'Metadata', verbs: ['delete'] }), request('GET', '/version')).level, 'None');
});

const cases: readonly [string, AuditPolicy['rules'][number], string, string, boolean][] = [
  [
    'a resource of a group matches the resource',
    { level: 'Request', resources: [{ group: '', resources: ['pods'] }] },
    'GET',
    '/api/v1/pods',
    true,
  ],
  [
    'a resource does not match its subresources',
    { level: 'Request', resources: [{ group: '', resources: ['pods'] }] },
    'GET',
    '/api/v1/namespaces/a/pods/p/log',
    false,
  ],
  [
    'a named subresource matches',
    { level: 'Request', resources: [{ group: '', resources: ['pods/*'] }] },
    'GET',
    '/api/v1/namespaces/a/pods/p/log',
    true,
  ],
  [
    'a group alone matches all its resources',
    { level: 'Request', resources: [{ group: 'apps' }] },
    'GET',
    '/apis/apps/v1/deployments',
    true,
  ],
  [
    'resource names match objects',
    { level: 'Request', resources: [{ group: '', resources: ['configmaps'], resourceNames: ['a'] }] },
    'GET',
    '/api/v1/namespaces/x/configmaps/b',
    false,
  ],
  [
    'a namespace matches its objects',
    { level: 'Request', namespaces: ['x'] },
    'GET',
    '/api/v1/namespaces/x/configmaps',
    true,
  ],
  [
    'an empty namespace matches cluster-scoped resources',
    { level: 'Request', namespaces: [''] },
    'GET',
    '/api/v1/nodes',
    true,
  ],
  [
    'a non-resource URL matches its paths',
    { level: 'Request', nonResourceURLs: ['/healthz*'] },
    'GET',
    '/healthz/ping',
    true,
  ],
  [
    'a resource matches no non-resource URL',
    { level: 'Request', nonResourceURLs: ['*'] },
    'GET',
    '/api/v1/nodes',
    false,
  ],
];
for (const [name, rule, method, path, expected] of cases) {
  test(`audit rule: ${name}`, () => {
    assert.equal(scopeOf(policy(rule), request(method, path)).level !== 'None', expected);
  });
}

test('omitted stages of the policy and of the rule are combined', () => {
  const { omitStages } = scopeOf(
    { ...policy({ level: 'Metadata', omitStages: ['ResponseStarted'] }), omitStages: ['RequestReceived'] },
    request('GET', '/api/v1/pods'),
  );
  assert.deepEqual([...omitStages].sort(), ['RequestReceived', 'ResponseStarted']);
});

test('an invalid policy is rejected', () => {
  const head = { kind: 'Policy', apiVersion: 'audit.k8s.io/v1' };
  assert.throws(() => readPolicy({ kind: 'Pod' }), /not a Policy/);
  assert.throws(() => readPolicy({ ...head, rules: [] }), /no rules/);
  assert.throws(() => readPolicy({ ...head, rules: [{ level: 'All' }] }), /rule 1 .* no level/);
  assert.throws(
    () => readPolicy({ ...head, rules: [{ level: 'None', namespaces: ['a'], nonResourceURLs: ['/'] }] }),
    /at once/,
  );
});
