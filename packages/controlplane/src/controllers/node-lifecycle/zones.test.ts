import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultMonitorSettings as limits } from './controller.ts';
import { evictionRateOf, isEveryNodeUnready, stateOfZone, type ZoneState, zoneOf } from './zones.ts';

const cases: readonly [ready: number, notReady: number, state: ZoneState, rate: number][] = [
  [0, 0, 'normal', 0.1],
  [3, 0, 'normal', 0.1],
  [1, 2, 'normal', 0.1],
  [9, 11, 'partial', 0],
  [10, 11, 'normal', 0.1],
  [1, 3, 'partial', 0],
  [22, 28, 'partial', 0],
  [22, 29, 'partial', 0.01],
  [0, 1, 'full', 0.1],
  [0, 100, 'full', 0.1],
];
for (const [ready, notReady, state, rate] of cases) {
  test(`a zone with ${notReady} of ${ready + notReady} nodes unready is ${state}, and ${rate} per second are tainted`, () => {
    assert.deepEqual(
      [stateOfZone({ ready, notReady }, limits), evictionRateOf({ ready, notReady }, limits)],
      [state, rate],
    );
  });
}

test('everything is down when no zone has a ready node', () => {
  const down = { ready: 0, notReady: 2 };
  assert.equal(
    isEveryNodeUnready(
      new Map([
        ['a', down],
        ['b', down],
      ]),
      limits,
    ),
    true,
  );
  assert.equal(
    isEveryNodeUnready(
      new Map([
        ['a', down],
        ['b', { ready: 1, notReady: 9 }],
      ]),
      limits,
    ),
    false,
  );
  assert.equal(isEveryNodeUnready(new Map(), limits), false);
});

test('the zone key consists of region and zone, deprecated labels first', () => {
  const named = (labels: Record<string, string>) => zoneOf({ apiVersion: 'v1', kind: 'Node', metadata: { labels } });
  assert.equal(named({}), '');
  assert.equal(named({ 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }), 'r\0z');
  assert.equal(named({ 'failure-domain.beta.kubernetes.io/zone': 'old', 'topology.kubernetes.io/zone': 'z' }), '\0old');
});
