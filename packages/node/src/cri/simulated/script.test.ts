import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ScriptError, scriptOf, stepAt } from './script.ts';

test('a container’s annotation overrides the Pod’s', () => {
  const annotations = { 'sim.kruise.io/exit-code': '1', 'web.sim.kruise.io/exit-code': '2,0' };
  assert.deepEqual(scriptOf(annotations, 'web').exitCodes, [2, 0]);
  assert.deepEqual(scriptOf(annotations, 'other').exitCodes, [1]);
});

test('a Pod without annotations has an empty script', () => {
  assert.deepEqual(scriptOf({ other: 'x' }), scriptOf(undefined));
});

test('quantities and durations have the Kubernetes formats', () => {
  const script = scriptOf({
    'sim.kruise.io/cpu': '250m',
    'sim.kruise.io/memory': '64Mi',
    'sim.kruise.io/start-latency': '1m30s',
  });
  assert.deepEqual([script.cpuCores, script.memoryBytes, script.startLatencyMs], [0.25, 64 * 2 ** 20, 90_000]);
});

describe('a timeline', () => {
  const steps = scriptOf({ 'sim.kruise.io/answers': '503 for 5s, 200 for 10s, refuse' }).answers ?? [];
  for (const [elapsedMs, expected] of [
    [0, '503'],
    [4999, '503'],
    [5000, '200'],
    [14_999, '200'],
    [15_000, 'refuse'],
    [1e9, 'refuse'],
  ] as const) {
    test(`returns ${expected} after ${elapsedMs} ms`, () => assert.equal(stepAt(steps, elapsedMs), expected));
  }

  test('whose last step has a duration continues with it', () => {
    assert.equal(stepAt([{ value: 'a', forMs: 10 }], 50), 'a');
  });
});

describe('malformed annotations', () => {
  for (const [key, value] of [
    ['start-latency', '5'],
    ['start-latency', '-5s'],
    ['exit-code', 'x'],
    ['answers', '200 for ever'],
    ['answers', '999'],
    ['memory', 'much'],
    ['pull-failures', '-1'],
  ] as const) {
    test(`${key}: ${value}`, () => {
      assert.throws(() => scriptOf({ [`sim.kruise.io/${key}`]: value }), ScriptError);
    });
  }
});
