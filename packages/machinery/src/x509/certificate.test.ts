import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { authority, createAuthority, createRequest, generateKey, readRequest } from './certificate.ts';

const nowMs = Date.parse('2026-01-02T03:04:05Z');

test('an authority signs itself', () => {
  const ca = new X509Certificate(createAuthority('kruise-ca', nowMs).certificate);
  assert.equal(ca.subject, 'CN=kruise-ca');
  assert.equal(ca.ca, true);
  assert.ok(ca.verify(ca.publicKey));
  assert.equal(ca.validTo, 'Dec 31 03:04:05 2035 GMT');
});

test('an issued certificate names its user, groups and hosts, and is signed by the authority', () => {
  const ca = createAuthority('kruise-ca', nowMs);
  const pair = ca.issue({
    subject: { commonName: 'admin', organizations: ['system:masters', 'ops'] },
    usages: ['client auth', 'server auth'],
    hosts: ['kubernetes.default.svc', '127.0.0.1', '::1'],
    nowMs,
  });
  const certificate = new X509Certificate(pair.certificate);
  assert.equal(certificate.subject, 'O=system:masters\nO=ops\nCN=admin');
  assert.equal(
    certificate.subjectAltName,
    'DNS:kubernetes.default.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
  );
  assert.ok(certificate.verify(new X509Certificate(ca.certificate).publicKey));
  assert.ok(certificate.checkIssued(new X509Certificate(ca.certificate)));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(pair.key)));
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1']);
});

test('an authority read from files signs as before', () => {
  const ca = createAuthority('kruise-ca', nowMs);
  const again = authority(ca, createPrivateKey(ca.key));
  const certificate = new X509Certificate(
    again.issue({ subject: { commonName: 'late' }, usages: ['client auth'], nowMs }).certificate,
  );
  assert.ok(certificate.checkIssued(new X509Certificate(ca.certificate)));
});

test('a time after 2049 keeps its century', () => {
  const ca = createAuthority('kruise-ca', nowMs, 365 * 60);
  assert.match(new X509Certificate(ca.certificate).validTo, /2085 GMT$/);
});

test('a signing request comes back as it was made', () => {
  const key = generateKey();
  const hosts = ['node-1', '10.0.0.7'];
  const request = readRequest(
    createRequest({ commonName: 'system:node:n', organizations: ['system:nodes'] }, key, hosts),
  );
  assert.deepEqual(request.subject, { commonName: 'system:node:n', organizations: ['system:nodes'] });
  assert.deepEqual(request.hosts, hosts);
});

test('a signing request with a changed byte is refused', () => {
  const text = createRequest({ commonName: 'x' }, generateKey());
  const [begin, ...lines] = text.split('\n');
  const bytes = Buffer.from(lines.slice(0, -2).join(''), 'base64');
  bytes[40]! ^= 1;
  const broken = [begin, bytes.toString('base64'), '-----END CERTIFICATE REQUEST-----'].join('\n');
  assert.throws(() => readRequest(broken));
});
