import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '@kruise/api/core/service';
import fc from 'fast-check';
import { localLoadBalancers } from './provider.ts';

const { signal } = new AbortController();
const service = (name: string, spec: Service['spec'] = {}, ips: readonly string[] = []): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: { type: 'LoadBalancer', ipFamilies: ['IPv4'], ...spec },
  status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
});
const start = (...ranges: string[]) => {
  const balancers = localLoadBalancers(ranges.length > 0 ? ranges : ['10.9.0.0/24']);
  return {
    ...balancers,
    give: async (of: Service) => (await balancers.ensure(of, [], signal)).ingress?.map(({ ip }) => ip).join(),
  };
};

test('a Service always gets the same address', async () => {
  const [first, second] = [start(), start()];
  const address = await first.give(service('web'));
  assert.match(address ?? '', /^10\.9\.0\.\d+$/);
  assert.equal(await first.give(service('web')), address);
  assert.equal(await second.give(service('web')), address);
});

test('the address in a Service status is allocated to that Service only', async () => {
  const { restore, give } = start();
  const hashed = await start().give(service('web'));
  restore!([service('older', {}, [hashed ?? ''])]);
  assert.notEqual(await give(service('web')), hashed);
  assert.equal(await give(service('older', {}, [hashed ?? ''])), hashed);
});

test('a requested address is allocated if it is available', async () => {
  const { give } = start();
  assert.equal(await give(service('web', { loadBalancerIP: '10.9.0.77' })), '10.9.0.77');
  await assert.rejects(give(service('other', { loadBalancerIP: '10.9.0.77' })), /allocated to another Service/);
  await assert.rejects(
    give(service('other', { loadBalancerIP: '10.8.0.1' })),
    /not in the load balancer address range/,
  );
});

test('a Service gets an address per IP family', async () => {
  const { give } = start('10.9.0.0/24', 'fd09::/112');
  assert.match((await give(service('web', { ipFamilies: ['IPv6', 'IPv4'] }))) ?? '', /^fd09::[\da-f]*,10\.9\.0\.\d+$/);
  await assert.rejects(start('fd09::/112').give(service('web')), /no load balancer address range/);
});

test('network and broadcast addresses are not allocated, and released addresses can be reused', async () => {
  const { give, remove, find } = start('10.9.0.0/30');
  assert.deepEqual([await give(service('a')), await give(service('b'))].sort(), ['10.9.0.1', '10.9.0.2']);
  await assert.rejects(give(service('c')), /is exhausted/);
  await remove(service('a'), signal);
  assert.equal(await find(service('a'), signal), undefined);
  assert.ok(await give(service('c')));
});

test('no two Services share an address', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...'abcdef'), fc.boolean())), async (steps) => {
      const { give, remove } = start('10.9.0.0/29');
      const given = new Map<string, string>();
      for (const [name, isLeaving] of steps) {
        if (isLeaving) await remove(service(name), signal);
        if (isLeaving) given.delete(name);
        else given.set(name, (await give(service(name))) ?? '');
      }
      assert.equal(new Set(given.values()).size, given.size);
    }),
  ));
