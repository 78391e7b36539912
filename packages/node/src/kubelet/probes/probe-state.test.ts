import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  inheritedProbeState,
  initialProbeState,
  nextProbeState,
  type ProbeType,
  type Thresholds,
} from './probe-state.ts';

/** Returns the result of a series of probes: `+` for success, `-` for failure. */
function resultAfter(type: ProbeType, thresholds: Thresholds, checks: string) {
  let state = initialProbeState(type, 'id');
  for (const check of checks) {
    if (!state.isOnHold) state = nextProbeState(state, type, thresholds, check === '+' ? 'success' : 'failure');
  }
  return `${state.result}${state.isOnHold ? ', on hold' : ''}`;
}

const rows: readonly (readonly [
  name: string,
  type: ProbeType,
  thresholds: Thresholds,
  checks: string,
  result: string,
])[] = [
  ['a container is live initially', 'Liveness', {}, '', 'success'],
  ['a container is not ready initially', 'Readiness', {}, '', 'failure'],
  ['the startup result is unknown initially', 'Startup', {}, '', 'unknown'],
  ['two failures do not reach the threshold', 'Liveness', {}, '--', 'success'],
  ['three failures fail the liveness probe', 'Liveness', {}, '---', 'failure, on hold'],
  ['a success between failures resets the count', 'Liveness', {}, '--+--', 'success'],
  ['one success makes a container ready', 'Readiness', {}, '+', 'success'],
  [
    'fewer successes than the threshold do not make a container ready',
    'Readiness',
    { successThreshold: 3 },
    '++',
    'failure',
  ],
  ['enough successes make a container ready', 'Readiness', { successThreshold: 3 }, '+++', 'success'],
  ['a ready container stays ready below the failure threshold', 'Readiness', {}, '+--', 'success'],
  ['a container becomes unready at the failure threshold', 'Readiness', {}, '+---', 'failure'],
  ['an unready container is still probed', 'Readiness', {}, '---+', 'success'],
  ['a successful startup probe pauses', 'Startup', {}, '--+', 'success, on hold'],
  ['a failed startup probe pauses', 'Startup', { failureThreshold: 2 }, '--+', 'failure, on hold'],
];
for (const [name, type, thresholds, checks, result] of rows) {
  test(name, () => assert.equal(resultAfter(type, thresholds, checks), result));
}

const inherited: readonly (readonly [type: ProbeType, known: { started: boolean; ready: boolean }, result: string])[] =
  [
    ['Startup', { started: true, ready: false }, 'success, on hold'],
    ['Startup', { started: false, ready: false }, 'unknown'],
    ['Readiness', { started: true, ready: true }, 'success'],
    ['Readiness', { started: true, ready: false }, 'failure'],
    ['Liveness', { started: true, ready: true }, 'success'],
  ];
for (const [type, known, result] of inherited) {
  test(`after a kubelet restart a container with ${JSON.stringify(known)} has a ${type} probe result of ${result}`, () => {
    const state = inheritedProbeState(type, 'id', known);
    assert.equal(`${state.result}${state.isOnHold ? ', on hold' : ''}`, result);
  });
}

test('a result never changes before its threshold', () => {
  const checks = fc.array(fc.constantFrom('+', '-')).map((all) => all.join(''));
  fc.assert(
    fc.property(checks, fc.integer({ min: 2, max: 5 }), (all, failureThreshold) => {
      const run = Math.max(0, ...all.split('+').map(({ length }) => length));
      const hasFailed = resultAfter('Liveness', { failureThreshold }, all).startsWith('failure');
      assert.equal(hasFailed, run >= failureThreshold);
    }),
  );
});
