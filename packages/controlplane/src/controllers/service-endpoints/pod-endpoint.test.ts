import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { formatAddress, parseLegacyAddress, unmap } from '@kruise/values/address';
import fc from 'fast-check';
import { addressesOf, type IpFamily } from './pod-endpoint.ts';

const pod = (...ips: string[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  status: { podIPs: ips.map((ip) => ({ ip })) },
});

const cases: readonly [ip: string, family: IpFamily, addresses: readonly string[]][] = [
  ['10.0.0.1', 'IPv4', ['10.0.0.1']],
  ['10.0.0.1', 'IPv6', []],
  ['010.000.0.01', 'IPv4', ['10.0.0.1']],
  ['255.255.255.255', 'IPv4', ['255.255.255.255']],
  ['256.0.0.1', 'IPv4', []],
  ['10.0.0.1.', 'IPv4', []],
  ['10.0.0', 'IPv4', []],
  ['FD00::0:1', 'IPv6', ['fd00::1']],
  ['::ffff:10.0.0.1', 'IPv4', ['10.0.0.1']],
  ['nowhere', 'IPv4', []],
  ['', 'IPv4', []],
];
for (const [ip, family, addresses] of cases) {
  test(`${ip || 'an empty IP'} has the ${family} address ${addresses[0] ?? 'none'}`, () => {
    assert.deepEqual(addressesOf(pod(ip), family), addresses);
  });
}

test('the fast path gives the same result as parsing', () => {
  const part = fc.oneof(fc.nat(300).map(String), fc.constantFrom('00', '01', '', 'a'));
  fc.assert(
    fc.property(fc.array(part, { minLength: 3, maxLength: 5 }), (parts) => {
      const text = parts.join('.');
      const parsed = parseLegacyAddress(text);
      const expected = parsed ? [formatAddress(unmap(parsed))] : [];
      assert.deepEqual(addressesOf(pod(text), 'IPv4'), expected);
    }),
  );
});
