import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '@kruise/api/coordination/lease';
import type { Node } from '@kruise/api/core/node';
import { formatMicroTime, formatTime } from '@kruise/values/time';
import { type Health, observeHealth, unknownConditionsOf } from './health.ts';

const start = Date.UTC(2026, 0, 1);
const at = (seconds: number) => start + seconds * 1000;
const gracePeriods = { monitorGraceSeconds: 50, startupGraceSeconds: 60 };

function node(ready?: { status: string; heartbeat: number }): Node {
  const condition = ready && {
    type: 'Ready',
    status: ready.status,
    lastHeartbeatTime: formatTime(at(ready.heartbeat)),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', creationTimestamp: formatTime(start) },
    status: { conditions: condition ? [condition] : [] },
  };
}

const lease = (seconds: number): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'a' },
  spec: { renewTime: formatMicroTime(at(seconds)) },
});

type Look = { at: number; node: Node; lease?: Lease };
const ready = (heartbeat: number) => node({ status: 'True', heartbeat });

const signs: readonly [name: string, looks: readonly Look[], heardAt: number][] = [
  ['a node without a status counts from its creation', [{ at: 7, node: node() }], 0],
  ['a newly observed node is alive', [{ at: 7, node: ready(0) }], 7],
  [
    'a new heartbeat counts',
    [
      { at: 0, node: ready(0) },
      { at: 20, node: ready(1) },
    ],
    20,
  ],
  [
    'the same heartbeat does not count',
    [
      { at: 0, node: ready(0) },
      { at: 20, node: ready(0) },
    ],
    0,
  ],
  [
    'the first status of a node counts',
    [
      { at: 0, node: node() },
      { at: 20, node: ready(0) },
    ],
    20,
  ],
  [
    'a removed Ready condition counts',
    [
      { at: 0, node: ready(0) },
      { at: 20, node: node() },
    ],
    20,
  ],
  [
    'a changed status without a heartbeat counts',
    [
      { at: 0, node: ready(0) },
      { at: 20, node: node({ status: 'False', heartbeat: 0 }) },
    ],
    20,
  ],
  [
    'a change to Unknown does not count',
    [
      { at: 0, node: ready(0) },
      { at: 20, node: node({ status: 'Unknown', heartbeat: 0 }) },
    ],
    0,
  ],
  [
    'a first lease counts',
    [
      { at: 0, node: ready(0) },
      { at: 20, node: ready(0), lease: lease(3) },
    ],
    20,
  ],
  [
    'a renewed lease counts',
    [
      { at: 0, node: ready(0), lease: lease(3) },
      { at: 20, node: ready(0), lease: lease(4) },
    ],
    20,
  ],
  [
    'the same lease does not count',
    [
      { at: 0, node: ready(0), lease: lease(3) },
      { at: 20, node: ready(0), lease: lease(3) },
    ],
    0,
  ],
  [
    'a lease with an earlier renew time does not count',
    [
      { at: 0, node: ready(0), lease: lease(3) },
      { at: 20, node: ready(0), lease: lease(2) },
    ],
    0,
  ],
  ['a lease keeps a node without a status alive', [{ at: 20, node: node(), lease: lease(3) }], 20],
];
for (const [name, looks, heardAt] of signs) {
  test(name, () => {
    let health: Health | undefined;
    for (const look of looks) health = observeHealth(health, look.node, look.lease, at(look.at));
    assert.equal((health!.lastHeartbeatAt - start) / 1000, heardAt);
  });
}

const silences: readonly [name: string, node: Node, silentSeconds: number, conditions: string | undefined][] = [
  ['a node may miss heartbeats for 50 seconds', ready(0), 50, undefined],
  [
    'after the grace period the conditions are Unknown',
    ready(0),
    51,
    'Ready NodeStatusUnknown, MemoryPressure NodeStatusNeverUpdated, DiskPressure NodeStatusNeverUpdated, PIDPressure NodeStatusNeverUpdated',
  ],
  ['a new node has a startup grace period of 60 seconds', node(), 60, undefined],
  [
    'after the startup grace period the node is reported as never updated',
    node(),
    61,
    'Ready NodeStatusNeverUpdated, MemoryPressure NodeStatusNeverUpdated, DiskPressure NodeStatusNeverUpdated, PIDPressure NodeStatusNeverUpdated',
  ],
  ['the conditions are set once', node({ status: 'Unknown', heartbeat: 0 }), 500, undefined],
];
for (const [name, silent, seconds, expected] of silences) {
  test(name, () => {
    const health = observeHealth(undefined, silent, undefined, start);
    const conditions = unknownConditionsOf(silent, health, gracePeriods, at(seconds));
    assert.equal(conditions?.map(({ type, reason }) => `${type} ${reason}`).join(', '), expected);
    assert.ok(conditions?.every(({ status }) => status === 'Unknown') ?? true);
  });
}

test('foreign conditions are unchanged', () => {
  const conditions = [
    { type: 'Ready', status: 'True' },
    { type: 'NetworkUnavailable', status: 'False' },
  ];
  const silent: Node = { ...node(), status: { conditions } };
  const health = observeHealth(undefined, silent, undefined, start);
  const after = unknownConditionsOf(silent, health, gracePeriods, at(51));
  assert.equal(after?.[1], conditions[1]);
});
