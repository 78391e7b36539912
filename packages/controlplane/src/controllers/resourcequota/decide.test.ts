import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceQuota } from '@kruise/api/core/resourcequota';
import { quotaEvaluatorOf } from '@kruise/machinery/quota';
import { instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { changesUsage, decide } from './decide.ts';

const now = instantOf(2026, 1, 1);
const of = (plural: string, group = '') => quotaEvaluatorOf({ group, plural });
type Amounts = { readonly [name: string]: string };

const quotaOf = (hard: Amounts, spec: object = {}, status?: object) =>
  ({ metadata: { name: 'q', namespace: 'shop' }, spec: { hard, ...spec }, status }) as unknown as ResourceQuota;
const podOf = (requests: Amounts = {}, spec: object = {}, phase = 'Running') => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', resources: { requests } }], ...spec },
  status: { phase },
});
const pods = (...objects: object[]) => ({ evaluator: of('pods'), objects });

const cases: readonly {
  name: string;
  quota: ResourceQuota;
  counted: Parameters<typeof decide>[1];
  used: Amounts | 'as is';
}[] = [
  { name: 'counts zero for no objects', quota: quotaOf({ pods: '2' }), counted: [pods()], used: { pods: '0' } },
  {
    name: 'adds up the requests of Pods',
    quota: quotaOf({ pods: '9', 'requests.cpu': '2', cpu: '2', memory: '1Gi' }),
    counted: [pods(podOf({ cpu: '250m', memory: '64Mi' }), podOf({ cpu: '1' }))],
    used: { pods: '2', 'requests.cpu': '1250m', cpu: '1250m', memory: '64Mi' },
  },
  {
    name: 'counts finished Pods only under count/pods',
    quota: quotaOf({ pods: '9', 'count/pods': '9' }),
    counted: [pods(podOf(), podOf({}, {}, 'Succeeded'), podOf({}, {}, 'Failed'))],
    used: { pods: '1', 'count/pods': '3' },
  },
  {
    name: 'counts objects in scope',
    quota: quotaOf({ pods: '9' }, { scopes: ['Terminating'] }),
    counted: [pods(podOf(), podOf({}, { activeDeadlineSeconds: 5 }))],
    used: { pods: '1' },
  },
  {
    name: 'counts nothing in a scope that the resource does not support',
    quota: quotaOf({ configmaps: '9' }, { scopes: ['BestEffort'] }),
    counted: [{ evaluator: of('configmaps'), objects: [{}, {}] }],
    used: { configmaps: '0' },
  },
  {
    name: 'counts several resources',
    quota: quotaOf({ 'count/deployments.apps': '9', secrets: '9', 'count/secrets': '9' }),
    counted: [
      { evaluator: of('deployments', 'apps'), objects: [{}, {}] },
      { evaluator: of('secrets'), objects: [{}] },
    ],
    used: { 'count/deployments.apps': '2', secrets: '1', 'count/secrets': '1' },
  },
  {
    name: 'keeps the usage of resources that it cannot count',
    quota: quotaOf(
      { pods: '1', 'count/boxes.example.com': '5' },
      {},
      { hard: {}, used: { 'count/boxes.example.com': '3' } },
    ),
    counted: [pods()],
    used: { pods: '0', 'count/boxes.example.com': '3' },
  },
  {
    name: 'drops resources that are not limited any more',
    quota: quotaOf({ pods: '1' }, {}, { hard: { pods: '1', cpu: '1' }, used: { pods: '0', cpu: '1' } }),
    counted: [pods()],
    used: { pods: '0' },
  },
  { name: 'does not update a quota without limits', quota: quotaOf({}), counted: [], used: 'as is' },
  {
    name: 'does not update an up-to-date status',
    quota: quotaOf({ pods: '2' }, {}, { hard: { pods: '2' }, used: { pods: '1' } }),
    counted: [pods(podOf())],
    used: 'as is',
  },
  {
    name: 'updates the limits if only they have changed',
    quota: quotaOf({ pods: '3' }, {}, { hard: { pods: '2' }, used: { pods: '1' } }),
    counted: [pods(podOf())],
    used: { pods: '1' },
  },
];
for (const { name, quota, counted, used } of cases) {
  test(name, () => {
    const status = decide(quota, counted, now);
    assert.deepEqual(status?.used ?? 'as is', used);
    if (status) {
      assert.deepEqual(status.hard, quota.spec?.hard);
      assert.equal(decide({ ...quota, status }, counted, now), undefined, 'the decision is idempotent');
    }
  });
}

const changes: readonly {
  name: string;
  from?: object;
  to: object;
  type: 'added' | 'updated' | 'deleted';
  matters: boolean;
}[] = [
  { name: 'a created Pod', to: podOf(), type: 'added', matters: false },
  { name: 'a deleted Pod', to: podOf(), type: 'deleted', matters: true },
  { name: 'a running Pod', from: podOf({}, {}, 'Pending'), to: podOf(), type: 'updated', matters: false },
  { name: 'a finished Pod', from: podOf(), to: podOf({}, {}, 'Failed'), type: 'updated', matters: true },
  { name: 'a resized Pod', from: podOf({ cpu: '1' }), to: podOf({ cpu: '2' }), type: 'updated', matters: true },
  {
    name: 'a Pod that gets an active deadline',
    from: podOf(),
    to: podOf({}, { activeDeadlineSeconds: 1 }),
    type: 'updated',
    matters: true,
  },
];
for (const { name, from, to, type, matters } of changes) {
  test(`${name} ${matters ? 'changes' : 'does not change'} the usage`, () => {
    const change = { type, object: to, cause: 'event', ...(from ? { previous: from } : {}) } as const;
    assert.equal(changesUsage(of('pods'), change, now), matters);
  });
}

test('the usage equals that of all objects, and is written once', () => {
  const shape = fc.record({ milli: fc.nat(5000), phase: fc.constantFrom('Running', 'Pending', 'Failed', 'Succeeded') });
  fc.assert(
    fc.property(fc.array(shape, { maxLength: 10 }), fc.array(shape, { maxLength: 10 }), (before, after) => {
      const countedOf = (shapes: typeof before) => [
        pods(...shapes.map(({ milli, phase }) => podOf({ cpu: `${milli}m` }, {}, phase))),
      ];
      const hard = { pods: '9', 'requests.cpu': '2' };
      const first = decide(quotaOf(hard), countedOf(before), now);
      const second = decide(quotaOf(hard, {}, first), countedOf(after), now) ?? first;
      assert.equal(decide(quotaOf(hard, {}, second), countedOf(after), now), undefined);
      const atWork = after.filter(({ phase }) => phase === 'Running' || phase === 'Pending');
      const milli = atWork.reduce((sum, each) => sum + each.milli, 0);
      assert.equal(second?.used?.['pods'], String(atWork.length));
      assert.equal(quantityOf(second?.used?.['requests.cpu']), milli);
    }),
  );

  function quantityOf(text = '0'): number {
    return text.endsWith('m') ? Number(text.slice(0, -1)) : 1000 * Number(text);
  }
});
