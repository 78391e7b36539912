import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { discoverCluster } from './discovery.ts';

const proof = { token: { id: 'abcdef', secret: '0123456789abcdef' }, hashes: [] };

async function withServer(status: number, body: string, use: (address: string) => Promise<void>): Promise<void> {
  const authority = createCertificateAuthority('any', Date.now());
  const { certificate: cert, key } = authority.issue({
    subject: { commonName: 'server' },
    usages: ['server auth'],
    hosts: ['127.0.0.1'],
    nowMs: Date.now(),
  });
  const server = createServer({ cert, key }, (_request, response) => response.writeHead(status).end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('discovery', () => {
  test('a description without end is not read', () =>
    withServer(200, 'x'.repeat(2 * 1024 * 1024), (address) =>
      assert.rejects(discoverCluster(address, proof), /has more than 1048576 bytes/),
    ));

  test('a server without a description names the command that publishes it', () =>
    withServer(404, '{}', (address) =>
      assert.rejects(discoverCluster(address, proof), /HTTP status 404\): run kruise token create there/),
    ));
});
