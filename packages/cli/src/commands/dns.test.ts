import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { type DnsFlags, dnsFlags } from '../dns-flags.ts';
import { settingsOf } from './dns.ts';

const settings = (...line: readonly string[]) =>
  settingsOf(dnsFlags(new Command()).exitOverride().parse(line, { from: 'user' }).opts<DnsFlags>());

test('kruise dns has the ports and times of CoreDNS', () => {
  const { port, healthPort, readyPort, metricsPort, ttlSeconds, cacheSeconds, lameduckMs, clusterDomains } = settings();
  assert.deepEqual([port, healthPort, readyPort, metricsPort], [53, 8080, 8181, 9153]);
  assert.deepEqual([ttlSeconds, cacheSeconds, lameduckMs, clusterDomains], [30, 30, 5000, ['cluster.local']]);
});

test('a port of -1 disables an endpoint', () => {
  assert.equal(settings('--health-port', '-1').healthPort, undefined);
});

test('the address that the server listens on is its own address', () => {
  assert.deepEqual(settings('--bind-address', '127.0.0.1').localAddresses, ['127.0.0.1']);
});

test('a flag that is not valid is named in the error', () => {
  for (const [line, message] of [
    [['--port', '70000'], /--port must be a port/],
    [['--bind-address', 'localhost'], /--bind-address must be IP addresses/],
    [['--cluster-domain', ''], /--cluster-domain must name a domain/],
    [['--upstream', 'dns.example.org'], /--upstream: .* is not the address of a DNS server/],
    [['--stub-domain', 'acme.local'], /--stub-domain: .* is not a stub domain/],
    [['--ttl', 'long'], /--ttl/],
  ] as const) {
    assert.throws(() => settings(...line), message);
  }
});

test('upstream servers come from the configuration directory, then from flags, then from the resolv.conf', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kruise-dns-test-'));
  try {
    const resolvConf = join(folder, 'resolv.conf');
    writeFileSync(resolvConf, 'nameserver 10.0.0.1\n');
    const hosts = async (...line: readonly string[]) =>
      (await settings('--resolv-conf', resolvConf, ...line).readUpstreams()).map(({ domain, servers }) => [
        domain.join('.'),
        ...servers.map(({ host }) => host),
      ]);
    assert.deepEqual(await hosts(), [['', '10.0.0.1']]);
    assert.deepEqual(await hosts('--upstream', '10.0.0.2', '--stub-domain', 'acme.local=10.0.0.3'), [
      ['', '10.0.0.2'],
      ['acme.local', '10.0.0.3'],
    ]);
    writeFileSync(join(folder, 'upstreamNameservers'), '["10.0.0.4"]');
    writeFileSync(join(folder, 'stubDomains'), '{"other.local": ["10.0.0.5"]}');
    assert.deepEqual(await hosts('--config-dir', folder, '--upstream', '10.0.0.2'), [
      ['', '10.0.0.4'],
      ['other.local', '10.0.0.5'],
    ]);
    assert.deepEqual(await hosts('--config-dir', join(folder, 'none')), [['', '10.0.0.1']]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
