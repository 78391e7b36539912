import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFileSettings, parseServer, parseStubDomain, resolvConfServers } from './settings.ts';

test('a server has an address and a port', () => {
  assert.deepEqual(parseServer('10.0.0.1'), { host: '10.0.0.1', port: 53 });
  assert.deepEqual(parseServer(' 10.0.0.1:5353'), { host: '10.0.0.1', port: 5353 });
  assert.deepEqual(parseServer('fd00::1'), { host: 'fd00::1', port: 53 });
  assert.deepEqual(parseServer('[fd00::1]:5353'), { host: 'fd00::1', port: 5353 });
  for (const text of ['', 'dns.example.org', '10.0.0.1:0', '10.0.0.1:65536', '10.0.0.256', '[fd00::1', 'fd00::1]:53']) {
    assert.throws(() => parseServer(text), /is not the address of a DNS server/, text);
  }
});

test('the servers of a resolv.conf are its nameservers', () => {
  const text =
    '# comment\nsearch example.org\n nameserver\t10.0.0.1 # first\nnameserver fd00::1\nnameserver bad\noptions ndots:5\n';
  assert.deepEqual(resolvConfServers(text), [
    { host: '10.0.0.1', port: 53 },
    { host: 'fd00::1', port: 53 },
  ]);
});

test('a stub domain has servers', () => {
  assert.deepEqual(parseStubDomain('acme.local=10.0.0.1,10.0.0.2:5353'), {
    domain: ['acme', 'local'],
    servers: [
      { host: '10.0.0.1', port: 53 },
      { host: '10.0.0.2', port: 5353 },
    ],
  });
  for (const text of ['acme.local', '=10.0.0.1', 'acme.local='])
    assert.throws(() => parseStubDomain(text), Error, text);
});

test('the ConfigMap kube-dns sets stub domains and upstream servers', () => {
  const settings = parseFileSettings({
    stubDomains: '{"acme.local": ["1.2.3.4"]}',
    upstreamNameservers: '["8.8.8.8"]',
  });
  assert.deepEqual(settings, {
    upstreams: [{ host: '8.8.8.8', port: 53 }],
    stubDomains: [{ domain: ['acme', 'local'], servers: [{ host: '1.2.3.4', port: 53 }] }],
  });
  assert.deepEqual(parseFileSettings({}), {});
  assert.throws(() => parseFileSettings({ stubDomains: '{' }), /stubDomains is not valid JSON/);
  assert.throws(() => parseFileSettings({ stubDomains: '[]' }), /must be an object/);
  assert.throws(() => parseFileSettings({ stubDomains: '{"a": "1.2.3.4"}' }), /stubDomains.a must be a list/);
  assert.throws(() => parseFileSettings({ upstreamNameservers: '[1]' }), /must be a list/);
});
