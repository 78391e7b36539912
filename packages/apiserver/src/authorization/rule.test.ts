import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import fc from 'fast-check';
import type { Attributes } from './authorizer.ts';
import { allows, printedParts, uncovered } from './rule.ts';

const user = { username: 'ann', groups: [] };

function wanted(verb: string, resource: string, name = ''): Attributes {
  const [whole = '', subresource = ''] = resource.split('/');
  const [plural = '', ...group] = whole.split('.');
  return {
    user,
    verb,
    resource: true,
    group: group.join('.'),
    version: 'v1',
    plural,
    subresource,
    namespace: 'default',
    name,
  };
}

const path = (verb: string, url: string): Attributes => ({ user, verb, resource: false, path: url });
const rule = (
  verbs: readonly string[],
  apiGroups: readonly string[],
  resources: readonly string[],
  more: Partial<PolicyRule> = {},
): PolicyRule => ({ verbs, apiGroups, resources, ...more });

const readPods = rule(['get', 'list'], [''], ['pods']);
const cases: readonly [name: string, rule: PolicyRule, attributes: Attributes, allowed: boolean][] = [
  ['allows a listed action', readPods, wanted('get', 'pods', 'a'), true],
  ['does not allow another verb', readPods, wanted('delete', 'pods', 'a'), false],
  ['does not allow another group', readPods, wanted('get', 'pods.metrics.k8s.io', 'a'), false],
  ['does not allow a subresource of what it names', readPods, wanted('get', 'pods/log', 'a'), false],
  ['allows every verb with a wildcard', rule(['*'], [''], ['pods']), wanted('escalate', 'pods'), true],
  ['allows every group with a wildcard', rule(['get'], ['*'], ['pods']), wanted('get', 'pods.metrics.k8s.io'), true],
  ['allows subresources with a wildcard', rule(['get'], [''], ['*']), wanted('get', 'pods/log'), true],
  [
    'allows a subresource of every resource',
    rule(['get'], ['*'], ['*/scale']),
    wanted('get', 'deployments.apps/scale'),
    true,
  ],
  [
    'does not allow a resource because of its subresource',
    rule(['get'], ['*'], ['*/scale']),
    wanted('get', 'scale'),
    false,
  ],
  [
    'allows the listed names',
    rule(['get'], [''], ['pods'], { resourceNames: ['a'] }),
    wanted('get', 'pods', 'a'),
    true,
  ],
  ['allows no other name', rule(['get'], [''], ['pods'], { resourceNames: ['a'] }), wanted('get', 'pods', 'b'), false],
  [
    'does not allow a list by names',
    rule(['list'], [''], ['pods'], { resourceNames: ['a'] }),
    wanted('list', 'pods'),
    false,
  ],
  ['allows an exact path', { verbs: ['get'], nonResourceURLs: ['/healthz'] }, path('get', '/healthz'), true],
  [
    'allows paths with the prefix of a wildcard path',
    { verbs: ['get'], nonResourceURLs: ['/api/*'] },
    path('get', '/api/v1'),
    true,
  ],
  [
    'does not allow paths above a wildcard path',
    { verbs: ['get'], nonResourceURLs: ['/api/*'] },
    path('get', '/api'),
    false,
  ],
  ['on resources does not allow non-resource URLs', rule(['*'], ['*'], ['*']), path('get', '/metrics'), false],
];

for (const [name, each, attributes, allowed] of cases) {
  test(`a rule ${name}`, () => assert.equal(allows(each, attributes), allowed));
}

test('uncovered rules are reported part by part', () => {
  const missing = uncovered([rule(['get', 'delete'], [''], ['pods', 'nodes'])], [readPods]);
  assert.deepEqual(printedParts(missing), [
    '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "delete"]}',
    '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
  ]);
});

test('only a wildcard covers a wildcard', () => {
  const all = rule(['*'], ['*'], ['*']);
  assert.deepEqual(uncovered([all], [all]), []);
  assert.equal(uncovered([all], [rule(['get', 'list'], ['*'], ['*'])]).length, 1);
});

test('a rule without resource names is not covered by one with names', () => {
  assert.equal(
    uncovered([rule(['get'], [''], ['pods'])], [rule(['get'], [''], ['pods'], { resourceNames: ['a'] })]).length,
    1,
  );
});

const words = (...all: readonly string[]) => fc.uniqueArray(fc.constantFrom(...all), { minLength: 1 });
const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs: words('get', 'list', 'create', '*'),
    apiGroups: words('', 'apps', '*'),
    resources: words('pods', 'pods/log', '*/scale', 'deployments', '*'),
  }),
  fc.record({ verbs: words('get', '*'), nonResourceURLs: words('/api', '/api/*', '*') }),
);

test('a rule covers itself, whatever rules are added', () => {
  fc.assert(
    fc.property(anyRule, fc.array(anyRule), (one, others) => {
      assert.deepEqual(uncovered([one], [...others, one]), []);
    }),
  );
});

test('a covered rule is allowed by the covering rules', () => {
  const anyWanted = fc
    .tuple(fc.constantFrom('get', 'list', 'create'), fc.constantFrom('pods', 'pods/log', 'deployments.apps/scale'))
    .map(([verb, resource]) => wanted(verb, resource));
  fc.assert(
    fc.property(anyRule, fc.array(anyRule, { maxLength: 4 }), anyWanted, (granted, held, attributes) => {
      if (uncovered([granted], held).length > 0 || !allows(granted, attributes)) return;
      assert.ok(held.some((each) => allows(each, attributes)));
    }),
  );
});
