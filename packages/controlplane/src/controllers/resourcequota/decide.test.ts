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
  { name: 'counts nothing as nothing', quota: quotaOf({ pods: '2' }), counted: [pods()], used: { pods: '0' } },
  {
    name: 'adds up what Pods ask for',
    quota: quotaOf({ pods: '9', 'requests.cpu': '2', cpu: '2', memory: '1Gi' }),
    counted: [pods(podOf({ cpu: '250m', memory: '64Mi' }), podOf({ cpu: '1' }))],
    used: { pods: '2', 'requests.cpu': '1250m', cpu: '1250m', memory: '64Mi' },
  },
  {
    name: 'counts Pods that have ended under count/pods alone',
    quota: quotaOf({ pods: '9', 'count/pods': '9' }),
    counted: [pods(podOf(), podOf({}, {}, 'Succeeded'), podOf({}, {}, 'Failed'))],
    used: { pods: '1', 'count/pods': '3' },
  },
  {
    name: 'counts what is in scope',
    quota: quotaOf({ pods: '9' }, { scopes: ['Terminating'] }),
    counted: [pods(podOf(), podOf({}, { activeDeadlineSeconds: 5 }))],
    used: { pods: '1' },
  },
  {
    name: 'has nothing in a scope that the resource knows nothing of',
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
    name: 'leaves as it was what it cannot count',
    quota: quotaOf(
      { pods: '1', 'count/boxes.example.com': '5' },
      {},
      { hard: {}, used: { 'count/boxes.example.com': '3' } },
    ),
    counted: [pods()],
    used: { pods: '0', 'count/boxes.example.com': '3' },
  },
  {
    name: 'drops what is no longer limited',
    quota: quotaOf({ pods: '1' }, {}, { hard: { pods: '1', cpu: '1' }, used: { pods: '0', cpu: '1' } }),
    counted: [pods()],
    used: { pods: '0' },
  },
  { name: 'has nothing to say of a quota on nothing', quota: quotaOf({}), counted: [], used: 'as is' },
  {
    name: 'has nothing to say if all is said',
    quota: quotaOf({ pods: '2' }, {}, { hard: { pods: '2' }, used: { pods: '1' } }),
    counted: [pods(podOf())],
    used: 'as is',
  },
  {
    name: 'says what is limited if only that has changed',
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
      assert.equal(decide({ ...quota, status }, counted, now), undefined, 'has nothing to add to its own decision');
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
  { name: 'a Pod that is made', to: podOf(), type: 'added', matters: false },
  { name: 'a Pod that is gone', to: podOf(), type: 'deleted', matters: true },
  { name: 'a Pod that runs', from: podOf({}, {}, 'Pending'), to: podOf(), type: 'updated', matters: false },
  { name: 'a Pod that has ended', from: podOf(), to: podOf({}, {}, 'Failed'), type: 'updated', matters: true },
  { name: 'a Pod that is resized', from: podOf({ cpu: '1' }), to: podOf({ cpu: '2' }), type: 'updated', matters: true },
  {
    name: 'a Pod that is given a deadline',
    from: podOf(),
    to: podOf({}, { activeDeadlineSeconds: 1 }),
    type: 'updated',
    matters: true,
  },
];
for (const { name, from, to, type, matters } of changes) {
  test(`${name} ${matters ? 'changes' : 'does not change'} what is used`, () => {
    const change = { type, object: to, cause: 'event', ...(from ? { previous: from } : {}) } as const;
    assert.equal(changesUsage(of('pods'), change, now), matters);
  });
}

test('what is used is what there is, however it came about, and is said once', () => {
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
