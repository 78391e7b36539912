import assert from 'node:assert/strict';
import { after, afterEach, describe, test } from 'node:test';
import { endpoints } from '@kruise/api/core/endpoints';
import { type Service, service } from '@kruise/api/core/service';
import { ipAddress } from '@kruise/api/networking/ipaddress';
import { serviceCIDR } from '@kruise/api/networking/servicecidr';
import { isInvalid, isNotFound, StatusError } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import fc from 'fast-check';
import { startApiServer } from '../server.ts';
import { createMemoryStore } from '../store/memory.ts';
import { startTestServer } from '../testing/test-server.ts';
import { inRandomOrder, reservedBand } from './band.ts';
import { Unavailable } from './cluster-ips.ts';
import { createNodePorts } from './node-ports.ts';

type Spec = NonNullable<Service['spec']>;
const namespace = 'default';
const ports = [{ port: 80 }];
const wanted = (name: string, spec: Spec = {}) => ({ metadata: { name, namespace }, spec: { ports, ...spec } as Spec });
const server = await startTestServer();
afterEach(() => server.client.deleteCollection(service, { namespace }));
after(() => server.close());
const make = (name: string, spec?: Spec) => server.client.create(service, wanted(name, spec));
const messageOf = (error: unknown) => (error instanceof StatusError ? error.message : String(error));

test('every number is tried once, the reserved band last', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 0, max: 300 }),
      fc.nat(),
      (size, reserved, seed) => {
        const tried = [...inRandomOrder(seededRandom(seed), size, reserved)];
        assert.deepEqual(
          tried.toSorted((a, b) => a - b),
          Array.from({ length: size }, (_, index) => index),
        );
        assert.ok(tried.slice(0, Math.max(0, size - reserved)).every((number) => number >= reserved));
      },
    ),
  );
});

const bands = [
  { size: 16, band: 0 },
  { size: 254, band: 16 },
  { size: 65534, band: 256 },
  { size: 1024, band: 64 },
];
for (const { size, band } of bands) {
  test(`a range of ${size} addresses reserves ${band} for requests of specific addresses`, () => {
    assert.equal(reservedBand(size, 16, { min: 16, max: 256 }), band);
  });
}

describe('a Service', () => {
  test('gets an address, recorded in an IPAddress', async () => {
    const { spec } = await make('a');
    assert.match(spec?.clusterIP ?? '', /^10\.96\./);
    assert.deepEqual(spec?.clusterIPs, [spec?.clusterIP]);
    assert.deepEqual([spec?.ipFamilies, spec?.ipFamilyPolicy], [['IPv4'], 'SingleStack']);
    const address = await server.client.get(ipAddress, { name: spec?.clusterIP ?? '' });
    assert.deepEqual(address.spec?.parentRef, { resource: 'services', namespace, name: 'a' });
  });

  test('gets the requested address, unless it is allocated', async () => {
    await make('a', { clusterIP: '10.96.7.7' });
    await assert.rejects(make('b', { clusterIP: '10.96.7.7' }), (error) => {
      assert.ok(isInvalid(error));
      assert.match(messageOf(error), /failed to allocate IP 10\.96\.7\.7: provided IP is already allocated/);
      return true;
    });
  });

  const refused = [
    ['outside of the range', '192.0.2.1', 'the provided network does not match the current range'],
    ['of the network itself', '10.96.0.0', 'the provided network does not match the current range'],
    ['for broadcasts', '10.96.255.255', 'the provided network does not match the current range'],
  ] as const;
  for (const [name, clusterIP, why] of refused) {
    test(`does not get an address ${name}`, async () => {
      await assert.rejects(make('a', { clusterIP }), (error) => messageOf(error).includes(why));
    });
  }

  test('releases its address on deletion, and its Endpoints are deleted', async () => {
    const { client } = server;
    const { spec } = await make('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30100 }] });
    await client.create(endpoints, { metadata: { name: 'a', namespace } });
    await client.delete(service, { name: 'a', namespace });
    await assert.rejects(client.get(ipAddress, { name: spec?.clusterIP ?? '' }), isNotFound);
    await assert.rejects(client.get(endpoints, { name: 'a', namespace }), isNotFound);
    const again = await make('b', {
      clusterIP: spec?.clusterIP ?? '',
      type: 'NodePort',
      ports: [{ port: 80, nodePort: 30100 }],
    });
    assert.equal(again.spec?.ports?.[0]?.nodePort, 30100);
  });

  test('allocates nothing if it is denied', async () => {
    const spec: Spec = { clusterIP: '10.96.7.7', type: 'NodePort', ports: [{ port: 80, nodePort: 30100 }] };
    await assert.rejects(make('a', { ...spec, sessionAffinity: 'Odd' as 'None' }), isInvalid);
    assert.equal((await make('a', spec)).spec?.clusterIP, '10.96.7.7');
  });

  test('allocates nothing in a dry run', async () => {
    const tried = await server.client.create(service, wanted('a', { type: 'NodePort' }), { dryRun: true });
    assert.ok(tried.spec?.clusterIP && tried.spec.ports?.[0]?.nodePort);
    await assert.rejects(server.client.get(ipAddress, { name: tried.spec.clusterIP }), isNotFound);
  });

  test('keeps its allocations when an update omits them', async () => {
    const made = await make('a', { type: 'NodePort' });
    const updated = await server.client.update(service, wanted('a', { type: 'NodePort' }) as Service);
    assert.equal(updated.spec?.clusterIP, made.spec?.clusterIP);
    assert.deepEqual(updated.spec?.ports, made.spec?.ports);
  });

  test('releases allocations that its new type does not need', async () => {
    const { client } = server;
    const made = await make('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30100 }] });
    const moved = { ...made, spec: { ...made.spec, type: 'ExternalName', externalName: 'example.com' } as Spec };
    const { spec } = await client.update(service, moved as Service);
    assert.deepEqual([spec?.clusterIP, spec?.ports?.[0]?.nodePort], [undefined, undefined]);
    await assert.rejects(client.get(ipAddress, { name: made.spec?.clusterIP ?? '' }), isNotFound);
    await make('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30100 }] });
  });

  test('that is headless has no address', async () => {
    const { spec } = await make('a', { clusterIP: 'None', selector: { a: 'b' } });
    assert.deepEqual([spec?.clusterIPs, spec?.ipFamilies], [['None'], ['IPv4']]);
    const bare = await make('b', { clusterIP: 'None' });
    assert.deepEqual([bare.spec?.ipFamilyPolicy, bare.spec?.ipFamilies], ['RequireDualStack', ['IPv4', 'IPv6']]);
  });

  test('cannot be dual-stack in a single-stack cluster', async () => {
    await assert.rejects(make('a', { ipFamilyPolicy: 'RequireDualStack' }), (error) =>
      messageOf(error).includes('this cluster is not configured for dual-stack services'),
    );
  });

  test('with externalTrafficPolicy Local has a health check port', async () => {
    const { spec } = await make('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    assert.ok((spec?.healthCheckNodePort ?? 0) >= 30000);
    assert.notEqual(spec?.healthCheckNodePort, spec?.ports?.[0]?.nodePort);
  });

  test('shares a node port between protocols of one port', async () => {
    const both = [
      { name: 'a', port: 53, protocol: 'TCP' },
      { name: 'b', port: 53, protocol: 'UDP' },
    ] as const;
    const { spec } = await make('a', { type: 'NodePort', ports: both });
    assert.equal(spec?.ports?.[0]?.nodePort, spec?.ports?.[1]?.nodePort);
  });

  test('can use addresses of an added ServiceCIDR', async () => {
    await server.client.create(serviceCIDR, { metadata: { name: 'more' }, spec: { cidrs: ['10.97.0.0/24'] } });
    assert.equal((await make('a', { clusterIP: '10.97.0.5' })).spec?.clusterIP, '10.97.0.5');
  });
});

test('Services that are created concurrently get different addresses and ports', async () => {
  const made = await Promise.all(Array.from({ length: 40 }, (_, index) => make(`s${index}`, { type: 'NodePort' })));
  assert.equal(new Set(made.map(({ spec }) => spec?.clusterIP)).size, 40);
  assert.equal(new Set(made.map(({ spec }) => spec?.ports?.[0]?.nodePort)).size, 40);
});

test('a small range is allocated completely', async () => {
  const clock = virtualClock();
  const nodePorts = createNodePorts(createMemoryStore({ clock }), seededRandom(1), clock.now, { first: 1, last: 20 });
  const owner = { namespace, name: 'a' };
  const taken = new Set<number>();
  for (let count = 0; count < 20; count++) taken.add(await nodePorts.allocateAny(owner));
  assert.equal(taken.size, 20);
  await assert.rejects(nodePorts.allocateAny(owner), new Unavailable('range is full'));
  await nodePorts.release(7, { namespace, name: 'someone else' });
  await assert.rejects(nodePorts.allocate(7, owner), new Unavailable('provided port is already allocated'));
  await nodePorts.release(7, owner);
  assert.equal(await nodePorts.allocateAny(owner), 7);
});

test('a start releases allocations that a crash left behind, and restores lost ones', async () => {
  const clock = virtualClock(Date.parse('2024-01-01T00:00:00Z'));
  const store = createMemoryStore({ clock });
  // The servers must not close the shared store.
  const parts = { store: { ...store, close: async () => {} }, clock, random: seededRandom(1), onError: assert.ifError };
  const owner = { namespace, name: 'never-written' };
  const ports = createNodePorts(store, seededRandom(2), clock.now, { first: 30000, last: 32767 });
  await ports.allocate(30100, owner);
  await ports.allocate(30101, owner);
  const first = await startApiServer(parts);
  await first.close();
  assert.equal((await ports.all()).length, 2);
  clock.advance(120_000);
  const second = await startApiServer(parts);
  await second.close();
  assert.deepEqual(await ports.all(), []);
});
