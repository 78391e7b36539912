import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { podNetworkConfiguration, writePodNetwork } from './pod-network.ts';

const settings = { podRange: '10.240.3.0/24', mtu: 1400, hasFirewall: true, allocations: '/addresses' };
let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kruise-cni-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('Pods get addresses of the Pod CIDR of their node, and the MTU of its interface', () => {
  const { plugins } = podNetworkConfiguration(settings) as {
    readonly plugins: readonly { readonly [key: string]: unknown }[];
  };
  assert.deepEqual(
    plugins.map(({ type }) => type),
    ['bridge', 'portmap'],
  );
  assert.deepEqual(plugins[0]?.['ipam'], {
    type: 'host-local',
    ranges: [[{ subnet: '10.240.3.0/24' }]],
    dataDir: '/addresses',
  });
  assert.equal(plugins[0]?.['mtu'], 1400);
});

test('without iptables there are neither masquerading nor host ports', () => {
  const { plugins } = podNetworkConfiguration({ ...settings, hasFirewall: false }) as {
    readonly plugins: readonly { readonly [key: string]: unknown }[];
  };
  assert.deepEqual(
    plugins.map(({ type, ipMasq }) => [type, ipMasq]),
    [['bridge', false]],
  );
});

test('the configuration is written, and written again for another Pod CIDR', () => {
  assert(writePodNetwork(directory, settings));
  assert(writePodNetwork(directory, { ...settings, podRange: '10.240.4.0/24' }));
  const [name = '', ...others] = readdirSync(directory);
  assert.deepEqual(others, []);
  assert.match(readFileSync(join(directory, name), 'utf8'), /10\.240\.4\.0\/24/);
});

test('the configuration of another network is left alone', () => {
  writeFileSync(join(directory, '05-other.conflist'), '{}');
  assert(!writePodNetwork(directory, settings));
  assert.deepEqual(readdirSync(directory), ['05-other.conflist']);
});
