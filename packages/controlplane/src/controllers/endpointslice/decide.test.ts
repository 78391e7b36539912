import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import fc from 'fast-check';
import { executeActions as carryOutActions } from '../../testing/execute-actions.ts';
import { decide, type Observed } from './decide.ts';

const service = (spec: Service['spec'] = {}, metadata: Service['metadata'] = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', uid: 'web-uid', ...metadata },
  spec: { clusterIP: '10.0.0.1', ipFamilies: ['IPv4'], ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
});

type Fixture = {
  ready?: boolean;
  leaving?: boolean;
  phase?: 'Running' | 'Failed';
  ips?: readonly string[];
  node?: string;
  spec?: Partial<NonNullable<Pod['spec']>>;
};

const pod = (
  name: string,
  { ready = true, leaving, phase = 'Running', ips = [`10.1.0.${name}`], node = 'n-a', spec }: Fixture = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    ...(leaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { containers: [], nodeName: node, ...spec },
  status: {
    phase,
    podIPs: ips.map((ip) => ({ ip })),
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});

const nodes: Record<string, Node> = Object.fromEntries(
  ['a', 'b'].map((zone) => [
    `n-${zone}`,
    { apiVersion: 'v1', kind: 'Node', metadata: { labels: { 'topology.kubernetes.io/zone': zone } } },
  ]),
);

const observe = (
  of: Service,
  pods: readonly Pod[],
  slices: readonly EndpointSlice[] = [],
  more: Partial<Observed> = {},
): Observed => ({
  service: of,
  pods,
  slices,
  findNode: (name) => nodes[name],
  zoneShares: () =>
    new Map([
      ['a', 0.5],
      ['b', 0.5],
    ]),
  hintedFamilies: new Set(),
  triggerTime: undefined,
  maxPerSlice: 100,
  ...more,
});

/** Returns the slices after executing a decision. */
const carryOut = (observed: Observed): readonly EndpointSlice[] =>
  carryOutActions(observed.slices, decide(observed).actions);

/** Formats slices as `IPv4 http:8080 [1 2]`. */
const show = ({ addressType, ports, endpoints }: EndpointSlice) =>
  `${addressType} ${(ports ?? []).map(({ name, port }) => `${name}:${port}`).join()} [${endpoints.map(({ targetRef }) => targetRef?.name).join(' ')}]`;

const named = (port: number) => ({
  containers: [{ name: 'main', image: 'i', ports: [{ name: 'http', containerPort: port, protocol: 'TCP' as const }] }],
});

const cases: readonly [name: string, service: Service, pods: readonly Pod[], expected: readonly string[]][] = [
  ['Pods are in a slice', service(), [pod('1'), pod('2', { ready: false })], ['IPv4 http:8080 [1 2]']],
  ['a Service without Pods has an empty slice', service(), [], ['IPv4  []']],
  [
    'each address family has its slices',
    service({ ipFamilies: ['IPv4', 'IPv6'] }),
    [pod('1', { ips: ['10.1.0.1', 'fd00::1'] })],
    ['IPv4 http:8080 [1]', 'IPv6 http:8080 [1]'],
  ],
  [
    'a family without addresses has an empty slice',
    service({ ipFamilies: ['IPv4', 'IPv6'] }),
    [pod('1')],
    ['IPv4 http:8080 [1]', 'IPv6  []'],
  ],
  [
    'Pods with other ports have their own slices',
    service({ ports: [{ name: 'p', port: 80, targetPort: 'http' }] }),
    [pod('1', { spec: named(1) }), pod('2', { spec: named(2) })],
    ['IPv4 p:1 [1]', 'IPv4 p:2 [2]'],
  ],
  [
    'a Pod without the port is in a slice without ports',
    service({ ports: [{ name: 'p', port: 80, targetPort: 'http' }] }),
    [pod('1')],
    ['IPv4  [1]'],
  ],
  ['a headless Service needs no ports', service({ clusterIP: 'None', ports: [] }), [pod('1')], ['IPv4  [1]']],
  ['a finished Pod is skipped', service(), [pod('1', { phase: 'Failed' })], ['IPv4  []']],
  ['a Pod without an IP is skipped', service(), [pod('1', { ips: [] })], ['IPv4  []']],
  ['a terminating Pod is kept', service(), [pod('1', { leaving: true })], ['IPv4 http:8080 [1]']],
  ['a Pod on an unknown node is skipped', service(), [pod('1', { node: 'n-z' })], ['IPv4  []']],
  [
    'a Pod on an unknown node is published with publishNotReadyAddresses',
    service({ publishNotReadyAddresses: true }),
    [pod('1', { node: 'n-z' })],
    ['IPv4 http:8080 [1]'],
  ],
];
for (const [name, of, pods, expected] of cases) {
  test(name, () => {
    const slices = carryOut(observe(of, pods));
    assert.deepEqual(slices.map(show), expected);
    assert.deepEqual(
      decide(observe(of, pods, slices)).actions.filter(({ type }) => type !== 'record'),
      [],
    );
  });
}

const conditions: readonly [
  name: string,
  service: Service,
  pod: Pod,
  ready: boolean,
  serving: boolean,
  terminating: boolean,
][] = [
  ['ready', service(), pod('1'), true, true, false],
  ['not ready', service(), pod('1', { ready: false }), false, false, false],
  ['leaving and ready', service(), pod('1', { leaving: true }), false, true, true],
  ['terminating and not ready', service(), pod('1', { leaving: true, ready: false }), false, false, true],
  [
    'not ready with publishNotReadyAddresses',
    service({ publishNotReadyAddresses: true }),
    pod('1', { ready: false }),
    true,
    false,
    false,
  ],
  [
    'terminating with publishNotReadyAddresses',
    service({ publishNotReadyAddresses: true }),
    pod('1', { leaving: true }),
    true,
    true,
    true,
  ],
];
for (const [name, of, only, ready, serving, terminating] of conditions) {
  test(`an endpoint of a Pod that is ${name} has ready ${ready}, serving ${serving}, terminating ${terminating}`, () => {
    assert.deepEqual(carryOut(observe(of, [only]))[0]?.endpoints[0]?.conditions, { ready, serving, terminating });
  });
}

test('an endpoint has its zone, node and target reference', () => {
  const hosted = pod('1', { spec: { hostname: 'one', subdomain: 'web' } });
  assert.deepEqual(carryOut(observe(service(), [hosted]))[0]?.endpoints, [
    {
      addresses: ['10.1.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'one',
      targetRef: { kind: 'Pod', namespace: 'default', name: '1', uid: 'uid-1' },
      nodeName: 'n-a',
      zone: 'a',
    },
  ]);
});

test('a slice is owned by its Service and has its labels, except reserved ones', () => {
  const labels = { app: 'web', 'kubernetes.io/service-name': 'other' };
  const [slice] = carryOut(
    observe(service({ clusterIP: 'None' }, { labels }), [], [], { triggerTime: '2026-01-01T00:00:00Z' }),
  );
  assert.deepEqual(slice?.metadata, {
    name: 'made-0',
    generateName: 'web-',
    namespace: 'default',
    labels: {
      app: 'web',
      'service.kubernetes.io/headless': '',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'web-uid', controller: true, blockOwnerDeletion: true },
    ],
  });
});

const kinds = (observed: Observed) => decide(observed).actions.map(({ type }) => type);

test('changed labels of the Service are written to its slices', () => {
  const slices = carryOut(observe(service(), [pod('1')]));
  assert.deepEqual(kinds(observe(service({}, { labels: { app: 'web' } }), [pod('1')], slices)), ['update']);
});

test('an obsolete slice is reused instead of creating one', () => {
  const slices = carryOut(observe(service(), []));
  assert.deepEqual(kinds(observe(service(), [pod('1')], slices)), ['update']);
  const filled = carryOut(observe(service(), [pod('1')], slices));
  assert.deepEqual(kinds(observe(service(), [], filled)), ['update']);
});

test('a slice of an earlier Service with the same name is deleted', () => {
  const slices = carryOut(observe(service({}, { uid: 'earlier' }), [pod('1')]));
  assert.deepEqual(kinds(observe(service(), [pod('1')], slices)), ['create', 'remove']);
});

test('slices of a removed address family are deleted', () => {
  const pods = [pod('1', { ips: ['10.1.0.1', 'fd00::1'] })];
  const slices = carryOut(observe(service({ ipFamilies: ['IPv4', 'IPv6'] }), pods));
  assert.deepEqual(kinds(observe(service(), pods, slices)), ['remove']);
});

test('no slices are created for a terminating Service', () => {
  assert.deepEqual(kinds(observe(service({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), [pod('1')])), []);
});

test('Pods that are skipped for a missing node emit an event', () => {
  const messages = (pods: readonly Pod[]) =>
    decide(observe(service(), pods)).actions.flatMap((action) =>
      action.type === 'record' ? [action.event.message] : [],
    );
  const one = 'skipping Pod 1 for Service default/web: Node n-z Not Found';
  assert.deepEqual(messages([pod('1', { node: 'n-z' })]), [
    `Error updating Endpoint Slices for Service default/web: ${one}`,
  ]);
  assert.match(
    messages([pod('1', { node: 'n-z' }), pod('2', { node: 'n-y' })])[0] ?? '',
    /: \[skipping Pod 1 .*, skipping Pod 2 .*\]$/,
  );
});

const auto = (annotation = 'service.kubernetes.io/topology-mode', mode = 'Auto') =>
  service({}, { annotations: { [annotation]: mode } });
const inBoth = [pod('1'), pod('2', { node: 'n-b' })];
const hintsOf = (slices: readonly EndpointSlice[]) =>
  slices.flatMap(({ endpoints }) => endpoints.map(({ hints }) => hints?.forZones?.[0]?.name));
const reasons = (observed: Observed) =>
  decide(observed).actions.flatMap((action) => (action.type === 'record' ? [action.event.reason] : []));

test('topology hints are set on request, with one event', () => {
  for (const wanting of [auto(), auto(undefined, 'auto'), auto('service.kubernetes.io/topology-aware-hints')]) {
    assert.deepEqual(hintsOf(carryOut(observe(wanting, inBoth))), ['a', 'b']);
  }
  assert.deepEqual(reasons(observe(auto(), inBoth)), ['TopologyAwareHintsEnabled']);
  assert.deepEqual(reasons(observe(auto(), inBoth, [], { hintedFamilies: new Set(['IPv4']) })), []);
  assert.deepEqual(hintsOf(carryOut(observe(auto(undefined, 'Disabled'), inBoth))), [undefined, undefined]);
});

test('impossible topology hints are removed, with an event', () => {
  const observed = observe(auto(), [pod('1')]);
  assert.deepEqual(hintsOf(carryOut(observed)), [undefined]);
  const [message] = decide(observed).actions.flatMap((action) =>
    action.type === 'record' ? [action.event.message] : [],
  );
  assert.equal(message, 'Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4');
});

test('topology hints are removed when they are not requested any more', () => {
  const slices = carryOut(observe(auto(), inBoth));
  const observed = observe(service(), inBoth, slices, { hintedFamilies: new Set(['IPv4']) });
  assert.deepEqual(hintsOf(carryOut(observed)), [undefined, undefined]);
  assert.deepEqual(reasons(observed), ['TopologyAwareHintsDisabled']);
});

test('trafficDistribution sets hints, unless topology-mode is Auto', () => {
  const close = service({ trafficDistribution: 'PreferClose' });
  assert.deepEqual(hintsOf(carryOut(observe(close, [pod('1'), pod('2')]))), ['a', 'a']);
  assert.deepEqual(reasons(observe(close, inBoth)), []);
});

test('a failed write emits an event on the Service', () => {
  const failures = decide(observe(service(), [pod('1')])).actions.map((action) =>
    'outcomeEvents' in action ? action.outcomeEvents?.failed : undefined,
  );
  assert.deepEqual(failures, [
    {
      reason: 'FailedToUpdateEndpointSlices',
      message:
        'Error updating Endpoint Slices for Service default/web: failed to create EndpointSlice for Service default/web: {error}',
    },
  ]);
});

test('five thousand Pods are in fifty slices, and one more Pod changes one slice', () => {
  const pods = Array.from({ length: 5000 }, (_, index) =>
    pod(`p${index}`, { ips: [`10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`] }),
  );
  const slices = carryOut(observe(service(), pods));
  assert.equal(slices.length, 50);
  assert.ok(slices.every(({ endpoints }) => endpoints.length === 100));
  assert.deepEqual(decide(observe(service(), pods, slices)).actions, []);
  const actions = decide(observe(service(), [...pods, pod('one-more', { ips: ['10.9.9.9'] })], slices)).actions;
  assert.deepEqual(
    actions.map(({ type }) => type),
    ['create'],
  );
  const fewer = decide(observe(service(), pods.slice(1), slices)).actions;
  assert.deepEqual(
    fewer.map(({ type }) => type),
    ['update'],
  );
});

test('after any Pod changes, each Pod is in one slice per family, and the decision is idempotent', () => {
  const shape = fc.record({
    ready: fc.boolean(),
    leaving: fc.boolean(),
    spec: fc.constantFrom({}, named(8080), named(9090)),
    hasBoth: fc.boolean(),
  });
  const of = fc.constantFrom(
    service(),
    service({ publishNotReadyAddresses: true, ipFamilies: ['IPv4', 'IPv6'] }),
    service({ ports: [{ name: 'http', port: 80, targetPort: 'http' }] }),
  );
  const some = fc.array(shape, { maxLength: 10 });
  fc.assert(
    fc.property(of, some, some, fc.nat(5), (given, before, after, moved) => {
      const podsOf = (shapes: typeof before, from = 1) =>
        shapes.map(({ hasBoth, ...each }, index) => {
          const number = String(from + index);
          return pod(number, { ...each, ips: [`10.1.0.${number}`, ...(hasBoth ? [`fd00::${number}`] : [])] });
        });
      const few = { maxPerSlice: 3 };
      const first = carryOut(observe(given, podsOf(before), [], few));
      const wanted = podsOf(after, moved + 1);
      const second = carryOut(observe(given, wanted, first, few));
      assert.deepEqual(decide(observe(given, wanted, second, few)).actions, []);
      assert.ok(second.every(({ endpoints }) => endpoints.length <= 3));
      const addresses = second.flatMap(({ endpoints }) => endpoints.map((each) => each.addresses[0]));
      const families = given.spec?.ipFamilies ?? [];
      const expected = wanted.flatMap(({ status }) =>
        (status?.podIPs ?? [])
          .map(({ ip }) => ip)
          .filter((ip) => families.includes(ip?.includes(':') ? 'IPv6' : 'IPv4')),
      );
      assert.deepEqual(addresses.toSorted(), expected.toSorted());
    }),
  );
});
