import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { Service } from '@kruise/api/core/service';
import { createTriggerTimes, withTriggerTime } from './trigger-times.ts';

const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`;
const service = (created: number): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', creationTimestamp: at(created) },
});
const pod = (name: string, changed: number | undefined): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  status: {
    conditions: changed === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: at(changed) }],
  },
});

type Look = readonly Pod[];
const cases: readonly [name: string, looks: readonly Look[], time: number | undefined][] = [
  ['a new Service counts from its creation', [[pod('a', 5)]], 1],
  ['a changed Pod counts', [[pod('a', 2)], [pod('a', 5)]], 5],
  ['a new Pod counts', [[], [pod('a', 5)]], 5],
  ['the earliest change counts', [[], [pod('a', 5), pod('b', 4)]], 4],
  ['unchanged Pods do not count', [[pod('a', 2)], [pod('a', 2), pod('b', 4)]], 4],
  ['without changes there is no trigger time', [[pod('a', 2)], [pod('a', 2)]], undefined],
  ['a deleted Pod has no trigger time', [[pod('a', 2)], []], undefined],
  ['a Pod without a Ready condition does not count', [[], [pod('a', undefined)]], undefined],
];
for (const [name, looks, time] of cases) {
  test(name, () => {
    const times = createTriggerTimes();
    const triggerTimes = looks.map((pods) => times.update(service(1), pods));
    assert.equal(triggerTimes.at(-1), time === undefined ? undefined : at(time));
  });
}

test('a dropped Service is new again', () => {
  const times = createTriggerTimes();
  times.update(service(1), []);
  times.forget('default/web');
  assert.equal(times.update(service(1), []), at(1));
});

test('the annotation is removed if no time is known', () => {
  const noted = withTriggerTime({ other: 'x' }, at(1));
  assert.deepEqual(noted, { other: 'x', 'endpoints.kubernetes.io/last-change-trigger-time': at(1) });
  assert.deepEqual(withTriggerTime(noted, undefined), { other: 'x' });
});
