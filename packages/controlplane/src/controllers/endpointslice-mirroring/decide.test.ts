import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSubset, Endpoints } from '@kruise/api/core/endpoints';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import fc from 'fast-check';
import { executeActions as carryOutActions } from '../../testing/execute-actions.ts';
import { decide, type Observed } from './decide.ts';

const endpoints = (subsets: readonly EndpointSubset[], metadata: Endpoints['metadata'] = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'db', namespace: 'default', uid: 'db-uid', ...metadata },
  subsets: [...subsets],
});
const service = (selector?: Record<string, string>): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'db', namespace: 'default' },
  spec: selector ? { selector } : {},
});
const subset = (ips: string, notReady = '', port = 80): EndpointSubset => ({
  addresses: ips
    .split(' ')
    .filter(Boolean)
    .map((ip) => ({ ip })),
  notReadyAddresses: notReady
    .split(' ')
    .filter(Boolean)
    .map((ip) => ({ ip })),
  ports: [{ name: 'p', port, protocol: 'TCP' }],
});
const observe = (
  found: Endpoints | undefined,
  slices: readonly EndpointSlice[] = [],
  of: Service | undefined = service(),
): Observed => ({ endpoints: found, service: of, slices });

/** Returns the slices after executing a decision. */
const carryOut = (observed: Observed): readonly EndpointSlice[] =>
  carryOutActions(observed.slices, decide(observed).actions);
const show = ({ addressType, ports, endpoints: found }: EndpointSlice) =>
  `${addressType} ${ports?.map(({ port }) => port).join()} [${found.map(({ addresses, conditions }) => `${conditions?.ready ? '' : '!'}${addresses[0]}`).join(' ')}]`;

const cases: readonly [name: string, subsets: readonly EndpointSubset[], expected: readonly string[]][] = [
  ['addresses are mirrored', [subset('10.0.0.1', '10.0.0.2')], ['IPv4 80 [10.0.0.1 !10.0.0.2]']],
  ['each address family has a slice', [subset('10.0.0.1 fd00::1')], ['IPv4 80 [10.0.0.1]', 'IPv6 80 [fd00::1]']],
  [
    'each set of ports has a slice',
    [subset('10.0.0.1'), subset('10.0.0.2', '', 81)],
    ['IPv4 80 [10.0.0.1]', 'IPv4 81 [10.0.0.2]'],
  ],
  [
    'subsets with the same ports are one slice',
    [subset('10.0.0.1'), subset('10.0.0.2')],
    ['IPv4 80 [10.0.0.1 10.0.0.2]'],
  ],
  [
    'ports with the same addresses are one slice',
    [subset('10.0.0.1'), subset('10.0.0.1', '', 81)],
    ['IPv4 80,81 [10.0.0.1]'],
  ],
  ['an address that is ready and not ready is not ready', [subset('10.0.0.1', '10.0.0.1')], ['IPv4 80 [!10.0.0.1]']],
  ['Endpoints without addresses need no slice', [], []],
];
for (const [name, subsets, expected] of cases) {
  test(name, () => {
    const slices = carryOut(observe(endpoints(subsets)));
    assert.deepEqual(slices.map(show), expected);
    assert.deepEqual(decide(observe(endpoints(subsets), slices)).actions, []);
  });
}

const mirrored = carryOut(observe(endpoints([subset('10.0.0.1')])));
const endings: readonly [name: string, observed: Observed][] = [
  ['without the Endpoints', observe(undefined, mirrored)],
  ['without the Service', { ...observe(endpoints([subset('10.0.0.1')]), mirrored), service: undefined }],
  ['if the Service has a selector', observe(endpoints([subset('10.0.0.1')]), mirrored, service({ app: 'db' }))],
  [
    'if they opt out of mirroring',
    observe(
      endpoints([subset('10.0.0.1')], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }),
      mirrored,
    ),
  ],
  [
    'if they are a leader election record',
    observe(
      endpoints([subset('10.0.0.1')], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }),
      mirrored,
    ),
  ],
];
for (const [name, observed] of endings) {
  test(`slices are deleted ${name}`, () => assert.deepEqual(carryOut(observed), []));
}

test('labels and annotations are mirrored, except those of the Endpoints alone', () => {
  const annotations = {
    note: 'x',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    'endpoints.kubernetes.io/last-change-trigger-time': 't',
  };
  const [slice] = carryOut(observe(endpoints([subset('10.0.0.1')], { labels: { app: 'db' }, annotations })));
  assert.deepEqual(slice?.metadata, {
    name: 'made-0',
    generateName: 'db-',
    namespace: 'default',
    labels: {
      app: 'db',
      'kubernetes.io/service-name': 'db',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    },
    annotations: { note: 'x' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Endpoints', name: 'db', uid: 'db-uid', controller: true, blockOwnerDeletion: true },
    ],
  });
});

test('a slice with other ports is reused', () => {
  assert.deepEqual(
    decide(observe(endpoints([subset('10.0.0.1', '', 99)]), mirrored)).actions.map(({ type }) => type),
    ['update'],
  );
});

const warnings = (found: Endpoints) =>
  decide(observe(found)).actions.flatMap((action) =>
    action.type === 'record' ? [`${action.event.reason}: ${action.event.message}`] : [],
  );

test('invalid addresses emit an event', () => {
  assert.deepEqual(warnings(endpoints([subset('10.0.0.1 nowhere')])), [
    'InvalidIPAddress: Skipped 1 invalid IP addresses when mirroring to EndpointSlices',
  ]);
  const crowd = Array.from({ length: 1002 }, (_, index) => `10.0.${index >> 8}.${index & 255}`).join(' ');
  assert.deepEqual(warnings(endpoints([subset(crowd)])), [
    'TooManyAddressesToMirror: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped',
  ]);
  assert.equal(carryOut(observe(endpoints([subset(crowd)])))[0]?.endpoints.length, 1000);
});

test('any custom Endpoints are mirrored once, and the decision is idempotent', () => {
  const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', 'fd00::1', 'nowhere');
  const some = fc.array(
    fc
      .tuple(fc.uniqueArray(address), fc.uniqueArray(address), fc.constantFrom(80, 81))
      .map(([ready, notReady, port]) => subset(ready.join(' '), notReady.join(' '), port)),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(some, some, (before, after) => {
      const first = carryOut(observe(endpoints(before)));
      const second = carryOut(observe(endpoints(after), first));
      const actions = decide(observe(endpoints(after), second)).actions;
      assert.deepEqual(
        actions.filter(({ type }) => type !== 'record'),
        [],
      );
      const shown = second.flatMap(({ endpoints: found, ports }) =>
        found.flatMap(({ addresses }) => (ports ?? []).map(({ port }) => `${addresses[0]}:${port}`)),
      );
      assert.equal(new Set(shown).size, shown.length, 'nothing is mirrored twice');
      const wanted = after.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
        [...addresses, ...notReadyAddresses].flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`)),
      );
      assert.deepEqual(new Set(shown), new Set(wanted.filter((each) => !each.startsWith('nowhere'))));
    }),
  );
});
