import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { kruisePodReadyCondition, type LifecycleState, lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import { instantOf } from '@kruise/values/time';
import { changeState, isAllHooked, isHooked, removeStaleHolds } from './lifecycle.ts';

const now = instantOf(2026, 1, 1);
const hook = { labelsHandler: { hold: 'yes', keep: 'yes' }, finalizersHandler: ['example.com/f'] };

type Traits = {
  readonly labels?: { readonly [key: string]: string };
  readonly finalizers?: readonly string[];
  readonly message?: string;
};
const podWith = ({ labels = {}, finalizers = [], message }: Traits): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pod', uid: 'uid', resourceVersion: '1', labels, finalizers },
  spec: { containers: [], readinessGates: [{ conditionType: kruisePodReadyCondition }] },
  status: {
    conditions: [
      { type: 'ContainersReady', status: 'True' },
      { type: 'Ready', status: 'True' },
      { type: kruisePodReadyCondition, status: message ? 'False' : 'True', ...(message ? { message } : {}) },
    ],
  },
});

const cases: { has: string; pod: Pod; hook?: typeof hook | undefined; any: boolean; all: boolean }[] = [
  { has: 'nothing of a hook', pod: podWith({}), any: false, all: false },
  { has: 'a label', pod: podWith({ labels: { hold: 'yes' } }), any: true, all: false },
  { has: 'a label of another value', pod: podWith({ labels: { hold: 'no', keep: 'no' } }), any: false, all: false },
  { has: 'a finalizer', pod: podWith({ finalizers: ['example.com/f'] }), any: true, all: false },
  {
    has: 'all of a hook',
    pod: podWith({ labels: { hold: 'yes', keep: 'yes' }, finalizers: ['example.com/f'] }),
    any: true,
    all: true,
  },
];
for (const { has, pod, any, all } of cases) {
  test(`a Pod that has ${has} is ${any ? '' : 'not '}blocked by the hook, and has ${all ? 'all' : 'not all'} of it`, () => {
    assert.deepEqual([isHooked(hook, pod), isAllHooked(hook, pod)], [any, all]);
  });
}

test('a missing hook blocks nothing and is never complete; an empty one blocks nothing and is always complete', () => {
  assert.deepEqual([isHooked(undefined, podWith({})), isAllHooked(undefined, podWith({}))], [false, false]);
  assert.deepEqual([isHooked({}, podWith({})), isAllHooked({}, podWith({}))], [false, true]);
});

test('a Pod that is already in a state needs no write', () => {
  assert.deepEqual(changeState(podWith({ labels: { [lifecycleStateLabel]: 'Normal' } }), { to: 'Normal' }, now), []);
});

test('a state is written only with its timestamp', () => {
  const [action] = changeState(podWith({}), { to: 'PreparingNormal' }, now);
  assert.deepEqual(action?.patch, {
    metadata: {
      labels: { [lifecycleStateLabel]: 'PreparingNormal' },
      annotations: { 'lifecycle.apps.kruise.io/timestamp': '2026-01-01T00:00:00Z' },
    },
  });
});

test('a restored hook is restored completely', () => {
  const pod = podWith({ labels: { hold: 'no', [lifecycleStateLabel]: 'Updated' } });
  const [action] = changeState(pod, { to: 'PreparingUpdate', restoring: hook }, now);
  const { metadata } = action!.patch as { metadata: Pod['metadata'] };
  assert.deepEqual(
    [metadata.labels?.['hold'], metadata.labels?.['keep'], metadata.finalizers],
    ['yes', 'yes', ['example.com/f']],
  );
});

const held = '[{"userAgent":"Lifecycle","key":"preUpdateHook"}]';
const marks: { to: LifecycleState; message?: string; expected: string | undefined; ready?: string | undefined }[] = [
  { to: 'PreparingDelete', expected: '[{"userAgent":"Lifecycle","key":"preDeleteHook"}]', ready: 'False' },
  { to: 'PreparingUpdate', expected: held, ready: 'False' },
  { to: 'Updated', message: held, expected: '[]' },
  { to: 'Normal', message: held, expected: '[]' },
  { to: 'Updating', expected: undefined },
];
for (const { to, message, expected, ready } of marks) {
  test(`in the transition to ${to} a hook with markPodNotReady writes ${expected === undefined ? 'nothing' : `status ${expected}`}`, () => {
    const actions = changeState(podWith(message ? { message } : {}), { to, markNotReady: true }, now);
    const status = actions.find(({ subresource }) => subresource === 'status')?.patch as
      | { status?: Pod['status'] }
      | undefined;
    const conditions = status?.status?.conditions ?? [];
    assert.equal(conditions.find(({ type }) => type === kruisePodReadyCondition)?.message, expected);
    assert.equal(conditions.find(({ type }) => type === 'Ready')?.status, ready);
  });
}

test('a Pod that waits in no hook becomes ready, one key after the other', () => {
  const both = [
    { userAgent: 'Lifecycle', key: 'preDeleteHook' },
    { userAgent: 'Lifecycle', key: 'preUpdateHook' },
  ];
  const messagesAfter = (keys: readonly object[]) =>
    removeStaleHolds(podWith({ message: JSON.stringify(keys) }), now).map(({ patch }) => {
      const { status } = patch as { status?: Pod['status'] };
      return status?.conditions?.[0]?.message;
    });
  assert.deepEqual(messagesAfter(both), [JSON.stringify(both.slice(1))]);
  assert.deepEqual(messagesAfter(both.slice(1)), ['[]']);
  assert.deepEqual(messagesAfter([{ userAgent: 'Somebody', key: 'else' }]), []);
});
