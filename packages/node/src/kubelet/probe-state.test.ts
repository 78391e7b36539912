import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { afterCheck, inheritedProbeState, initialProbeState, type ProbeType, type Thresholds } from './probe-state.ts';

/** What comes of checks, written one letter each: `+` for success, `-` for failure. */
function resultAfter(type: ProbeType, thresholds: Thresholds, checks: string) {
  let state = initialProbeState(type, 'id');
  for (const check of checks) {
    if (!state.isOnHold) state = afterCheck(state, type, thresholds, check === '+' ? 'success' : 'failure');
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
  ['a container is taken to live', 'Liveness', {}, '', 'success'],
  ['a container is not taken to be ready', 'Readiness', {}, '', 'failure'],
  ['of a container nobody knows whether it has started', 'Startup', {}, '', 'unknown'],
  ['two failures are not three', 'Liveness', {}, '--', 'success'],
  ['three failures end it', 'Liveness', {}, '---', 'failure, on hold'],
  ['a success between failures begins the count anew', 'Liveness', {}, '--+--', 'success'],
  ['one success makes ready', 'Readiness', {}, '+', 'success'],
  ['as many successes as it takes make ready', 'Readiness', { successThreshold: 3 }, '++', 'failure'],
  ['enough successes make ready', 'Readiness', { successThreshold: 3 }, '+++', 'success'],
  ['what was ready is so until it has failed often enough', 'Readiness', {}, '+--', 'success'],
  ['what has failed often enough is not ready', 'Readiness', {}, '+---', 'failure'],
  ['what is not ready is checked on', 'Readiness', {}, '---+', 'success'],
  ['what has started is checked no more', 'Startup', {}, '--+', 'success, on hold'],
  ['what does not start is checked no more', 'Startup', { failureThreshold: 2 }, '--+', 'failure, on hold'],
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
  test(`of a container known as ${JSON.stringify(known)} a ${type} probe is ${result} to the next kubelet`, () => {
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
