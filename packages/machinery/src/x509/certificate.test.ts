import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import {
  createCertificateAuthority,
  createRequest,
  generateKey,
  loadCertificateAuthority,
  readRequest,
} from './certificate.ts';

const nowMs = Date.parse('2026-01-02T03:04:05Z');

test('an authority signs itself', () => {
  const ca = new X509Certificate(createCertificateAuthority('kruise-ca', nowMs).certificate);
  assert.equal(ca.subject, 'CN=kruise-ca');
  assert.equal(ca.ca, true);
  assert.ok(ca.verify(ca.publicKey));
  assert.equal(ca.validTo, 'Dec 31 03:04:05 2035 GMT');
});

test('an issued certificate names its user, groups and hosts, and is signed by the authority', () => {
  const ca = createCertificateAuthority('kruise-ca', nowMs);
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
  const ca = createCertificateAuthority('kruise-ca', nowMs);
  const again = loadCertificateAuthority(ca, createPrivateKey(ca.key));
  const certificate = new X509Certificate(
    again.issue({ subject: { commonName: 'late' }, usages: ['client auth'], nowMs }).certificate,
  );
  assert.ok(certificate.checkIssued(new X509Certificate(ca.certificate)));
});

test('a time after 2049 keeps its century', () => {
  const ca = createCertificateAuthority('kruise-ca', nowMs, 365 * 60);
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

// Made by OpenSSL: P-384, SHA-384, with a country, a unit, an address, an e-mail address and a URI.
const foreignRequest = `-----BEGIN CERTIFICATE REQUEST-----
MIIBgjCCAQkCAQAwOTELMAkGA1UEBhMCREUxDTALBgNVBAoMBHNob3AxDTALBgNV
BAsMBHRpbGwxDDAKBgNVBAMMA3dlYjB2MBAGByqGSM49AgEGBSuBBAAiA2IABN+c
zeb+Z5TxSVDYwzQC3DZN6ES6P/NY5N9u6sQLQBxVl4iVu7JmlV1BI6HgIg3iceqf
RHzOBjDO6yGLlfXCIIlLOTKhjClAGG3Jod0/eIWNlbyfoXirSr4cywYulCXnbqBR
ME8GCSqGSIb3DQEJDjFCMEAwPgYDVR0RBDcwNYIJYS5leGFtcGxlhwQKAAABgQ5t
ZUBleGFtcGxlLmNvbYYSc3BpZmZlOi8vc2hvcC90aWxsMAoGCCqGSM49BAMDA2cA
MGQCMBE3suM9V2HoGgV249tLr9o+iFZ+L8tbz9QIwN8ycI4hQtIoK7F6atxDW6gg
4KMlRAIwbbHMa9D45K/uDR9nGjOu/CU3tZ2lVpTvCrzirdEx1UYQP5u8WUidX3ph
bnGI7iwJ
-----END CERTIFICATE REQUEST-----
`;

test('a request of another program is read, and certified with all it says of its subject', () => {
  const request = readRequest(foreignRequest);
  assert.deepEqual(
    [request.subject, request.hosts, request.emails, request.uris],
    [
      { commonName: 'web', organizations: ['shop'] },
      ['a.example', '10.0.0.1'],
      ['me@example.com'],
      ['spiffe://shop/till'],
    ],
  );
  const terms = { usages: ['digital signature', 'client auth', 'any'], notBeforeMs: nowMs, notAfterMs: nowMs + 1000 };
  const certificate = new X509Certificate(createCertificateAuthority('kruise-ca', nowMs).certify(request, terms));
  assert.equal(certificate.subject, 'C=DE\nO=shop\nOU=till\nCN=web');
  assert.equal(
    certificate.subjectAltName,
    'DNS:a.example, IP Address:10.0.0.1, email:me@example.com, URI:spiffe://shop/till',
  );
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']);
  assert.ok(certificate.publicKey.equals(request.publicKey));
});

test('a request someone changed on the way is refused', () => {
  const forged = foreignRequest.replace('ME8GCSqGSIb3', 'ME8GCSqGSIb4');
  assert.throws(() => readRequest(forged), /not signed by its own key/);
});
