import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advertisedIp, localHost } from './server-address.ts';

const interfaceOf = (address: string, internal: boolean) => ({
  address,
  netmask: '255.255.255.0',
  family: 'IPv4' as const,
  mac: '00:00:00:00:00:00',
  internal,
  cidr: null,
});
const loopback = { lo: [interfaceOf('127.0.0.1', true)] };
const online = { ...loopback, eth0: [interfaceOf('192.0.2.7', false)] };

const cases = [
  { name: 'a server on localhost', bind: '127.0.0.1', interfaces: online, advertised: '192.0.2.7' },
  { name: 'a server on every address', bind: '0.0.0.0', interfaces: online, advertised: '192.0.2.7' },
  { name: 'a server on a specific address', bind: '198.51.100.1', interfaces: online, advertised: '198.51.100.1' },
  {
    name: 'a server on a machine without a network',
    bind: '127.0.0.1',
    interfaces: loopback,
    advertised: '172.18.0.1',
  },
];
for (const { name, bind, interfaces, advertised } of cases) {
  test(`${name} is known to others as ${advertised}`, () => assert.equal(advertisedIp(bind, interfaces), advertised));
}

test('a server on every address is reachable at localhost', () => {
  assert.deepEqual(['0.0.0.0', '::', '127.0.0.1'].map(localHost), ['localhost', 'localhost', '127.0.0.1']);
});
