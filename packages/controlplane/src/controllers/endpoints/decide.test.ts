import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoints } from '@kruise/api/core/endpoints';
import type { Pod } from '@kruise/api/core/pod';
import type { Service } from '@kruise/api/core/service';
import fc from 'fast-check';
import { executeActions } from '../../testing/execute-actions.ts';
import { decide, subsetsOf, truncate } from './decide.ts';

function service(spec: Service['spec'] = {}, labels: Record<string, string> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', labels },
    spec: { clusterIP: '10.0.0.1', ipFamilies: ['IPv4'], ports: [{ port: 80, targetPort: 8080 }], ...spec },
  };
}

type Fixture = {
  ips?: readonly string[];
  ready?: boolean;
  phase?: 'Running' | 'Failed' | 'Succeeded';
  terminating?: boolean;
  spec?: Partial<NonNullable<Pod['spec']>>;
};

function pod(
  name: string,
  { ips = [`10.1.0.${name}`], ready = true, phase = 'Running', terminating, spec }: Fixture = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      ...(terminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [], nodeName: 'n', ...spec },
    status: {
      phase,
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

/** Formats subsets: `1 2 !3 on 8080`. */
function summary(of: Service, pods: readonly Pod[]): readonly string[] {
  return subsetsOf(of, pods).map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const shown = [...addresses.map(({ ip }) => ip), ...notReadyAddresses.map(({ ip }) => `!${ip}`)];
    const names = shown.map((ip) => ip.replace('10.1.0.', '')).join(' ');
    return `${names} on ${ports.map(({ name, port }) => `${name ?? ''}${name ? ':' : ''}${port}`).join(' ')}`;
  });
}

const named = (port: number) => ({
  containers: [{ name: 'main', image: 'i', ports: [{ name: 'http', containerPort: port, protocol: 'TCP' as const }] }],
});

const cases: readonly [name: string, service: Service, pods: readonly Pod[], expected: readonly string[]][] = [
  ['ready Pods are addresses', service(), [pod('2'), pod('1')], ['1 2 on 8080']],
  ['unready Pods are not-ready addresses', service(), [pod('1'), pod('2', { ready: false })], ['1 !2 on 8080']],
  [
    'all Pods are ready with publishNotReadyAddresses',
    service({ publishNotReadyAddresses: true }),
    [pod('1', { ready: false }), pod('2', { terminating: true })],
    ['1 2 on 8080'],
  ],
  ['a terminating Pod is skipped', service(), [pod('1', { terminating: true })], []],
  [
    'a finished Pod is skipped',
    service({ publishNotReadyAddresses: true }),
    [pod('1', { phase: 'Failed' }), pod('2', { phase: 'Succeeded' })],
    [],
  ],
  ['a Pod without an IP is skipped', service(), [pod('1', { ips: [] })], []],
  ['a Pod without an IP of the family is skipped', service(), [pod('1', { ips: ['fd00::1'] })], []],
  [
    'the first family counts',
    service({ ipFamilies: ['IPv6', 'IPv4'] }),
    [pod('1', { ips: ['10.1.0.1', 'fd00::1'] })],
    ['fd00::1 on 8080'],
  ],
  [
    'an address is written in canonical form',
    service({ ipFamilies: ['IPv6'] }),
    [pod('1', { ips: ['FD00:0::1'] })],
    ['fd00::1 on 8080'],
  ],
  [
    'several ports are one subset',
    service({
      ports: [
        { name: 'b', port: 81 },
        { name: 'a', port: 80 },
      ],
    }),
    [pod('1')],
    ['1 on a:80 b:81'],
  ],
  ['a port without a target port uses its own number', service({ ports: [{ port: 80 }] }), [pod('1')], ['1 on 80']],
  [
    'a named port is resolved in each Pod',
    service({ ports: [{ port: 80, targetPort: 'http' }] }),
    [pod('1', { spec: named(8080) }), pod('2', { spec: named(9090) })],
    ['1 on 8080', '2 on 9090'],
  ],
  ['a Pod without the named port is skipped', service({ ports: [{ port: 80, targetPort: 'http' }] }), [pod('1')], []],
  [
    'a port with another protocol is another port',
    service({ ports: [{ port: 80, targetPort: 'http', protocol: 'UDP' }] }),
    [pod('1', { spec: named(8080) })],
    [],
  ],
  [
    'a sidecar may have the port',
    service({ ports: [{ port: 80, targetPort: 'http' }] }),
    [pod('1', { spec: { initContainers: [{ ...named(8080).containers[0]!, restartPolicy: 'Always' }] } })],
    ['1 on 8080'],
  ],
  [
    'ports with the same Pods are one subset, others another',
    service({
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81, targetPort: 'http' },
      ],
    }),
    [pod('1', { spec: named(8080) }), pod('2')],
    ['1 2 on a:80', '1 on b:8080'],
  ],
  [
    'a headless Service needs no ports',
    service({ clusterIP: 'None', ports: [] }),
    [pod('1'), pod('2', { ready: false })],
    ['1 !2 on '],
  ],
  ['another does', service({ ports: [] }), [pod('1')], []],
];
for (const [name, of, pods, expected] of cases) {
  test(name, () => assert.deepEqual(summary(of, pods), expected));
}

test('an address has a target reference and a node name', () => {
  const hosted = pod('1', { spec: { hostname: 'one', subdomain: 'web' } });
  assert.deepEqual(subsetsOf(service(), [hosted])[0]?.addresses, [
    {
      ip: '10.1.0.1',
      hostname: 'one',
      nodeName: 'n',
      targetRef: { kind: 'Pod', namespace: 'default', name: '1', uid: 'uid-1' },
    },
  ]);
  const nowhere = pod('1', { spec: { nodeName: '' } });
  assert.ok(!('nodeName' in subsetsOf(service(), [nowhere])[0]!.addresses![0]!), 'an empty node name is omitted');
  const elsewhere = pod('1', { spec: { hostname: 'one', subdomain: 'other' } });
  assert.equal(subsetsOf(service(), [elsewhere])[0]?.addresses?.[0]?.hostname, undefined);
});

const observed = { key: 'default/web', triggerTime: undefined };

function written(of: Service, pods: readonly Pod[], endpoints?: Endpoints): Endpoints | undefined {
  const [action] = decide({ ...observed, service: of, pods, endpoints }).actions;
  return action?.type === 'create' || action?.type === 'update' ? (action.object as Endpoints) : undefined;
}

test('labels are copied from the Service, with the managed-by label', () => {
  assert.deepEqual(written(service({}, { app: 'web' }), [])?.metadata.labels, {
    app: 'web',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  });
  assert.deepEqual(written(service({ clusterIP: 'None' }), [])?.metadata.labels, {
    'service.kubernetes.io/headless': '',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  });
});

test('unchanged Endpoints are not written, even if a Pod has a new resourceVersion', () => {
  const made = written(service(), [pod('1')])!;
  assert.equal(written(service(), [pod('1')], made), undefined);
  const address = made.subsets![0]!.addresses![0]!;
  const versioned = { ...address, targetRef: { ...address.targetRef, resourceVersion: '7' } };
  assert.equal(
    written(service(), [pod('1')], { ...made, subsets: [{ ...made.subsets![0]!, addresses: [versioned] }] }),
    undefined,
  );
  assert.ok(written(service(), [pod('1')], { ...made, metadata: { ...made.metadata, labels: {} } }));
});

test('the trigger time is set, and removed when none is known', () => {
  const [action] = decide({
    ...observed,
    service: service(),
    pods: [],
    endpoints: undefined,
    triggerTime: '2026-01-01T00:00:00Z',
  }).actions;
  const made = action?.type === 'create' ? (action.object as Endpoints) : undefined;
  assert.deepEqual(made?.metadata.annotations, {
    'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
  });
  assert.deepEqual(written(service(), [pod('1')], made)?.metadata.annotations, {});
});

test('Endpoints are deleted with their Service', () => {
  const made = written(service(), [])!;
  const actions = decide({ ...observed, service: undefined, pods: [], endpoints: made }).actions;
  assert.deepEqual(
    actions.map(({ type }) => type),
    ['remove'],
  );
});

const crowd = (count: number, ready: boolean) =>
  Array.from({ length: count }, (_, index) => pod(`${index}`, { ips: [`10.2.${index >> 8}.${index & 255}`], ready }));

test('Endpoints contain at most a thousand addresses, ready ones first', () => {
  const counts = (pods: readonly Pod[]) => {
    const { subsets, isTruncated } = truncate(subsetsOf(service(), pods));
    return [subsets[0]?.addresses?.length ?? 0, subsets[0]?.notReadyAddresses?.length ?? 0, isTruncated];
  };
  assert.deepEqual(counts(crowd(1000, true)), [1000, 0, false]);
  assert.deepEqual(counts(crowd(1001, true)), [1000, 0, true]);
  const mixed = [...crowd(700, true), ...crowd(1500, false).slice(700)];
  assert.deepEqual(counts(mixed), [700, 300, true]);
  assert.deepEqual(counts([...crowd(1200, true), ...crowd(1300, false).slice(1200)]), [1000, 0, true]);
});

test('truncated Endpoints are annotated, and not written again', () => {
  const made = written(service(), crowd(1200, true))!;
  assert.equal(made.metadata.annotations?.['endpoints.kubernetes.io/over-capacity'], 'truncated');
  assert.equal(written(service(), crowd(1200, true), made), undefined);
  const fewer = written(service(), crowd(10, true), made)!;
  assert.equal(fewer.metadata.annotations?.['endpoints.kubernetes.io/over-capacity'], undefined);
});

test('the order of the Pods does not matter', () => {
  const pods = [pod('1'), pod('2', { ready: false }), pod('3', { spec: named(9) }), pod('4', { spec: named(8) })];
  const of = service({
    ports: [
      { name: 'a', port: 80 },
      { name: 'b', port: 81, targetPort: 'http' },
    ],
  });
  fc.assert(
    fc.property(fc.shuffledSubarray(pods, { minLength: pods.length }), (shuffled) => {
      assert.deepEqual(subsetsOf(of, shuffled), subsetsOf(of, pods));
    }),
  );
});

test('a failed write emits an event on the Endpoints', () => {
  const failure = (present?: Endpoints) => {
    const [action] = decide({
      key: 'default/web',
      service: service(),
      endpoints: present,
      pods: [pod('1')],
      triggerTime: undefined,
    }).actions;
    return action && 'outcomeEvents' in action ? action.outcomeEvents?.failed : undefined;
  };
  assert.deepEqual(failure(), {
    reason: 'FailedToCreateEndpoint',
    message: 'Failed to create endpoint for service default/web: {error}',
  });
  assert.deepEqual(failure({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web', namespace: 'default' } }), {
    reason: 'FailedToUpdateEndpoint',
    message: 'Failed to update endpoint default/web: {error}',
  });
});

test('the decision is idempotent for any Pods', () => {
  const shape = fc.record({
    ready: fc.boolean(),
    terminating: fc.boolean(),
    phase: fc.constantFrom('Running', 'Failed', 'Succeeded'),
    spec: fc.constantFrom({}, named(8080), named(9090)),
  });
  const of = fc.constantFrom(
    service(),
    service({ publishNotReadyAddresses: true }),
    service({ ports: [{ port: 80, targetPort: 'http' }] }),
    service({ clusterIP: 'None', ports: [] }),
  );
  fc.assert(
    fc.property(of, fc.array(shape, { maxLength: 8 }), fc.array(shape, { maxLength: 8 }), (given, before, after) => {
      const podsOf = (shapes: typeof before) => shapes.map((each, index) => pod(String(index + 1), each));
      const world = { key: 'default/web', service: given, triggerTime: undefined };
      const decideWith = (shapes: typeof before, present: readonly Endpoints[]) => {
        const [endpoints] = present;
        return decide({ ...world, pods: podsOf(shapes), endpoints }).actions;
      };
      const first = executeActions<Endpoints>([], decideWith(before, []));
      const second = executeActions(first, decideWith(after, first));
      assert.deepEqual(decideWith(after, second), []);
      assert.deepEqual(second[0]?.subsets ?? [], subsetsOf(given, podsOf(after)));
    }),
  );
});
