import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../compile.ts';
import { kubernetesEnvironment } from '../environments.ts';
import { toJson } from '../json-values.ts';
import {
  type Attributes,
  AuthorizerValue,
  authorizerType,
  type Decision,
  ResourceCheckValue,
  resourceCheckType,
} from './authorizer.ts';

const user = { name: 'jane', groups: ['dev'] };
const unset = { group: '', subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };

function ask(text: string, decision: Decision = { allowed: true }) {
  const asked: Attributes[] = [];
  const authorizer = new AuthorizerValue(user, (attributes) => {
    asked.push(attributes);
    return decision;
  });
  const requestResource = new ResourceCheckValue(authorizer, { resource: 'pods', namespace: 'default', name: 'web' });
  const environment = kubernetesEnvironment({
    variables: { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType },
  });
  const program = compile(environment, text);
  assert.ok(program.ok, program.ok ? '' : program.message);
  const outcome = program.evaluate({ authorizer, 'authorizer.requestResource': requestResource });
  const result = 'error' in outcome ? `error: ${outcome.error}` : toJson(outcome.value);
  return { asked, result, cost: outcome.cost, estimate: program.estimatedCost.max };
}

const questions = [
  {
    name: 'a path',
    text: "authorizer.path('/healthz').check('get').allowed()",
    asked: { user, verb: 'get', path: '/healthz' },
  },
  {
    name: 'a resource',
    text: "authorizer.group('apps').resource('deployments').check('create').allowed()",
    asked: { user, verb: 'create', ...unset, group: 'apps', resource: 'deployments' },
  },
  {
    name: 'one object and subresource',
    text: "authorizer.group('').resource('pods').subresource('exec').namespace('default').name('web').check('create').allowed()",
    asked: { user, verb: 'create', ...unset, resource: 'pods', subresource: 'exec', namespace: 'default', name: 'web' },
  },
  {
    name: 'a selection of objects',
    text: "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list').allowed()",
    asked: { user, verb: 'list', ...unset, resource: 'pods', fieldSelector: 'a=b', labelSelector: 'c' },
  },
  {
    name: 'a service account',
    text: "authorizer.serviceAccount('default', 'builder').path('/x').check('get').allowed()",
    asked: {
      user: {
        name: 'system:serviceaccount:default:builder',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
      },
      verb: 'get',
      path: '/x',
    },
  },
  {
    name: 'the resource of the request',
    text: "authorizer.requestResource.check('update').allowed()",
    asked: { user, verb: 'update', ...unset, resource: 'pods', namespace: 'default', name: 'web' },
  },
];
for (const { name, text, asked } of questions) {
  test(`the authorizer is called for ${name}`, () => {
    assert.deepEqual(ask(text).asked, [asked]);
  });
}

const answers = [
  { text: 'allowed()', decision: { allowed: false }, result: false },
  { text: 'reason()', decision: { allowed: false, reason: 'no rule' }, result: 'no rule' },
  { text: 'reason()', decision: { allowed: true }, result: '' },
  { text: 'errored()', decision: { allowed: false, error: 'timeout' }, result: true },
  { text: 'errored()', decision: { allowed: true }, result: false },
  { text: 'error()', decision: { allowed: false, error: 'timeout' }, result: 'timeout' },
  { text: 'error()', decision: { allowed: true }, result: '' },
];
for (const { text, decision, result } of answers) {
  test(`${text} is ${JSON.stringify(result)} for the decision ${JSON.stringify(decision)}`, () => {
    assert.equal(ask(`authorizer.path('/x').check('get').${text}`, decision).result, result);
  });
}

const refusals = [
  { text: "authorizer.path(' ').check('get').allowed()", error: 'path must not be empty' },
  { text: "authorizer.group('').resource('').check('get').allowed()", error: 'resource must not be empty' },
  {
    text: "authorizer.serviceAccount('default', 'A').path('/').check('get').allowed()",
    error: 'Invalid service account name',
  },
  {
    text: "authorizer.serviceAccount('a.b', 'a').path('/').check('get').allowed()",
    error: 'Invalid service account namespace',
  },
];
for (const { text, error } of refusals) {
  test(`${text} is rejected`, () => {
    assert.equal(ask(text).result, `error: ${error}`);
  });
}

test('the cost of a check allows two checks per evaluation', () => {
  const check = "authorizer.path('/x').check('get').allowed()";
  assert.deepEqual([ask(check).cost, ask(check).estimate], [350_003, 350_003n]);
  assert.equal(ask(`${check} && ${check}`).result, true);
  assert.match(String(ask(`${check} && ${check} && ${check}`).result), /cost limit exceeded/);
});

test('the cost of selectors depends on their length', () => {
  const { cost } = ask("authorizer.group('').resource('pods').labelSelector('a=b,c=d').check('list').allowed()");
  // One for the variable, two for group and resource, 10 + 1 + 4 × 50 for the selector, one for the result.
  assert.equal(cost, 350_000 + 1 + 2 + 211 + 1);
});
