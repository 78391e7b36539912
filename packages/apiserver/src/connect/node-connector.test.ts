import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { Node } from '@kruise/api/core/node';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock } from '@kruise/values/system';
import { type KubeletAccess, networkConnector } from './node-connector.ts';

const nowMs = Date.now();
const authority = createCertificateAuthority('kubelets', nowMs);
const pair = authority.issue({
  subject: { commonName: 'system:node:n' },
  usages: ['server auth'],
  hosts: ['127.0.0.1'],
  nowMs,
});
const client = authority.issue({ subject: { commonName: 'kubelet-client' }, usages: ['client auth'], nowMs });

const nodeOf = (addresses: readonly (readonly [string, string])[], port = 10250, labels = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels },
  status: {
    addresses: addresses.map(([type, address]) => ({ type, address })),
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  },
});

function urlOf(node: Node, access: KubeletAccess = {}): string {
  const connector = networkConnector(systemClock, access);
  try {
    return connector.kubelet(node).url;
  } finally {
    connector.close();
  }
}

test('the internal address of a node takes precedence over its name, which DNS may not resolve', () => {
  const both = [
    ['Hostname', 'worker-1'],
    ['InternalIP', '10.0.0.7'],
    ['ExternalIP', '203.0.113.7'],
  ] as const;
  assert.equal(urlOf(nodeOf(both)), 'https://10.0.0.7:10250');
  assert.equal(urlOf(nodeOf(both), { addressTypes: ['ExternalIP', 'InternalIP'] }), 'https://203.0.113.7:10250');
  assert.equal(urlOf(nodeOf(both.slice(0, 1))), 'https://worker-1:10250');
});

test('the hostname label is used if there is no such address', () => {
  assert.equal(urlOf(nodeOf([], 1, { 'kubernetes.io/hostname': 'labelled' })), 'https://labelled:1');
});

test('a node without a preferred address is unreachable', () => {
  assert.throws(() => urlOf(nodeOf([['ExternalDNS', 'n.example']])), {
    message: 'no preferred addresses found; known addresses: [{ExternalDNS n.example}]',
  });
});

test('the server presents its certificate to kubelets, and verifies theirs if a CA is given', async () => {
  const presented: string[] = [];
  const kubelet = createServer(
    { cert: pair.certificate, key: pair.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      presented.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN));
      response.end();
    },
  );
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  const node = nodeOf([['InternalIP', '127.0.0.1']], (kubelet.address() as AddressInfo).port);
  const ask = async (access: KubeletAccess, unchecked = false) => {
    const connector = networkConnector(systemClock, { ...client, ...access });
    const request = { method: 'GET', path: '/', headers: {}, signal: AbortSignal.timeout(10_000) };
    try {
      const { code, body } = await connector.kubelet(node, { unchecked }).send(request);
      body.resume();
      return String(code);
    } catch (error) {
      return (error as Error).message;
    } finally {
      connector.close();
    }
  };
  try {
    const other = createCertificateAuthority('others', nowMs).certificate;
    assert.equal(await ask({}), '200');
    assert.equal(await ask({ authority: authority.certificate }), '200');
    assert.match(await ask({ authority: other }), /certificate/);
    // Logs may be requested from a kubelet whose certificate cannot be verified.
    assert.equal(await ask({ authority: other }, true), '200');
    assert.deepEqual(presented, ['kubelet-client', 'kubelet-client', 'kubelet-client']);
  } finally {
    kubelet.close();
  }
});
