import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Endpoint } from '@kruise/api/discovery/endpointslice';
import fc from 'fast-check';
import type { Draft } from './slice-set.ts';
import { allocationsOf, hintByShare, hintByZone, withoutHints, zoneShares } from './topology-hints.ts';

function node(zone: string, cpu: string, { ready = true, labels = {} } = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { labels: { ...(zone ? { 'topology.kubernetes.io/zone': zone } : {}), ...labels } },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

const shareCases: readonly [name: string, nodes: readonly Node[], shares: Record<string, number> | undefined][] = [
  ['zones have shares by CPU', [node('a', '3'), node('b', '500m'), node('b', '500m')], { a: 0.75, b: 0.25 }],
  [
    'an unready node has no share',
    [node('a', '1'), node('b', '1'), node('b', '2', { ready: false })],
    { a: 0.5, b: 0.5 },
  ],
  [
    'a control plane node has no share',
    [node('a', '1'), node('b', '1'), node('b', '2', { labels: { 'node-role.kubernetes.io/control-plane': '' } })],
    { a: 0.5, b: 0.5 },
  ],
  ['a single zone has no shares', [node('a', '1')], undefined],
  ['a node without a zone disables hints', [node('a', '1'), node('b', '1'), node('', '1')], undefined],
  ['a node without CPUs disables hints', [node('a', '1'), node('b', '0')], undefined],
];
for (const [name, nodes, shares] of shareCases) {
  test(name, () => {
    const found = zoneShares(nodes);
    assert.deepEqual(found && Object.fromEntries(found), shares);
  });
}

const halves = new Map([
  ['a', 0.5],
  ['b', 0.5],
]);
const thirds = new Map([
  ['a', 1 / 3],
  ['b', 1 / 3],
  ['c', 1 / 3],
]);

const refusals: readonly [shares: ReadonlyMap<string, number> | undefined, endpoints: number, text: string][] = [
  [undefined, 9, 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'],
  [thirds, 2, 'Insufficient number of endpoints (2 endpoints, 3 zones)'],
  [
    thirds,
    4,
    'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)',
  ],
];
for (const [shares, endpoints, text] of refusals) {
  test(text, () => assert.equal(allocationsOf(shares, endpoints), text));
}

test('the minimum of a zone is its share minus the allowed overload', () => {
  assert.deepEqual(
    allocationsOf(halves, 10),
    new Map([
      ['a', { minimum: 5, maximum: 5, desired: 5 }],
      ['b', { minimum: 5, maximum: 5, desired: 5 }],
    ]),
  );
  assert.deepEqual(
    allocationsOf(halves, 15),
    new Map([
      ['a', { minimum: 7, maximum: 8, desired: 7.5 }],
      ['b', { minimum: 7, maximum: 8, desired: 7.5 }],
    ]),
  );
});

/** Parses endpoints: `a` in zone a; `a>b` with a hint for b; `!a` not ready. */
function draft(text: string, isChanged = true): Draft {
  const endpoints = text
    .split(' ')
    .filter(Boolean)
    .map((word, index): Endpoint => {
      const [zone = '', hint] = word.replace('!', '').split('>');
      return {
        addresses: [`10.0.0.${index}`],
        conditions: { ready: !word.startsWith('!') },
        ...(zone ? { zone } : {}),
        ...(hint ? { hints: { forZones: [{ name: hint }] } } : {}),
      };
    });
  return { addressType: 'IPv4', ports: [], existing: undefined, endpoints, isChanged };
}

const show = ({ endpoints, isChanged }: Draft) =>
  `${isChanged ? '*' : ''}${endpoints
    .map(
      ({ zone = '', hints, conditions }) =>
        `${conditions?.ready ? '' : '!'}${zone}${hints ? `>${hints.forZones?.[0]?.name}` : ''}`,
    )
    .join(' ')}`;

const hintCases: readonly [name: string, drafts: readonly Draft[], expected: readonly string[]][] = [
  ['each endpoint serves its own zone if that is balanced', [draft('a b')], ['*a>a b>b']],
  ['zones with a surplus give endpoints to zones with too few', [draft('a a a b')], ['*a>b a>a a>a b>b']],
  ['unready endpoints have no hints', [draft('a b !a')], ['*a>a b>b !a']],
  ['slices with valid hints are unchanged', [draft('a>a b>b', false), draft('a b')], ['a>a b>b', '*a>a b>b']],
  ['slices without hints get hints', [draft('a b', false)], ['*a>a b>b']],
  ['hints for removed zones are replaced', [draft('a>z b>b', false)], ['*a>a b>b']],
];
for (const [name, drafts, expected] of hintCases) {
  test(name, () => {
    const hinted = hintByShare(drafts, halves);
    assert.deepEqual(typeof hinted === 'string' ? hinted : hinted.map(show), expected);
  });
}

test('an endpoint without a zone disables hints', () => {
  const unplaced = {
    ...draft('a b'),
    endpoints: [...draft('a b').endpoints, { addresses: ['x'], conditions: { ready: true } }],
  };
  assert.equal(
    hintByShare(
      [unplaced],
      new Map([
        ['a', 0.5],
        ['b', 0.5],
      ]),
    ),
    'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones)',
  );
  const more = {
    ...unplaced,
    endpoints: [...draft('a a b').endpoints, { addresses: ['x'], conditions: { ready: true } }],
  };
  assert.equal(hintByShare([more], halves), 'One or more endpoints do not have a zone specified');
});

test('with PreferClose, each endpoint serves its own zone', () => {
  assert.deepEqual(hintByZone([draft('a b !a', false), draft('a>a', false), draft('b>a', false)]).map(show), [
    '*a>a b>b !a',
    'a>a',
    '*b>b',
  ]);
});

test('unwanted hints are removed', () => {
  assert.deepEqual(withoutHints([draft('a>a b', false), draft('a b', false)]).map(show), ['*a b', 'a b']);
});

test('every zone has its minimum, and hints are idempotent', () => {
  const zone = fc.constantFrom('a', 'b', 'c');
  fc.assert(
    fc.property(fc.array(zone, { minLength: 3, maxLength: 40 }), fc.integer({ min: 1, max: 9 }), (zones, weight) => {
      const total = weight + 2;
      const shares = new Map([
        ['a', weight / total],
        ['b', 1 / total],
        ['c', 1 / total],
      ]);
      const hinted = hintByShare([draft(zones.join(' '))], shares);
      const allocations = allocationsOf(shares, zones.length);
      if (typeof hinted === 'string' || typeof allocations === 'string') {
        assert.equal(typeof hinted, typeof allocations);
        return;
      }
      const again = hintByShare(
        hinted.map((each) => ({ ...each, isChanged: false })),
        shares,
      );
      assert.ok(typeof again !== 'string');
      const fits = [...allocations].every(([name, { maximum }]) => {
        const count = hinted[0]!.endpoints.filter(({ hints }) => hints?.forZones?.[0]?.name === name).length;
        return count <= maximum;
      });
      if (fits)
        assert.deepEqual(
          again.map(({ isChanged }) => isChanged),
          [false],
        );
    }),
  );
});
