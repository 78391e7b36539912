import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionError, statusError } from './go-errors.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const at = { address: '10.0.0.1', port: 443 };
const unverified = 'tls: failed to verify certificate: x509:';

const rows: readonly [code: string, more: object, name: string, expected: string][] = [
  ['ECONNREFUSED', at, 'a', 'dial tcp 10.0.0.1:443: connect: connection refused'],
  ['ECONNREFUSED', { address: '::1', port: 1 }, 'a', 'dial tcp [::1]:1: connect: connection refused'],
  ['EHOSTUNREACH', at, 'a', 'dial tcp 10.0.0.1:443: connect: no route to host'],
  ['ETIMEDOUT', at, 'a', 'dial tcp 10.0.0.1:443: i/o timeout'],
  ['ENOTFOUND', { hostname: 'a.example' }, 'a.example', 'dial tcp: lookup a.example: no such host'],
  ['ECONNRESET', {}, 'a', 'EOF'],
  ['ECONNRESET', { syscall: 'read' }, 'a', 'read: connection reset by peer'],
  ['ABORT_ERR', {}, 'a', 'context canceled'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', {}, 'a', `${unverified} certificate signed by unknown authority`],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    { cert: { subjectaltname: 'DNS:b.svc, DNS:c.svc, IP Address:127.0.0.1' } },
    'a.svc',
    `${unverified} certificate is valid for b.svc, c.svc, not a.svc`,
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    { cert: { subjectaltname: 'DNS:b.svc, IP Address:127.0.0.1' } },
    '10.0.0.1',
    `${unverified} certificate is valid for 127.0.0.1, not 10.0.0.1`,
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    { cert: {} },
    'a.svc',
    `${unverified} certificate is not valid for any names, but wanted to match a.svc`,
  ],
  [
    'CERT_HAS_EXPIRED',
    { cert: { valid_to: 'Dec 31 00:00:00 2025 GMT' } },
    'a',
    `${unverified} certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is after 2025-12-31T00:00:00Z`,
  ],
  ['EWHATEVER', {}, 'a', 'what it is'],
];
for (const [code, more, name, expected] of rows) {
  test(`${code} ${JSON.stringify(more)} yields ${expected}`, () => {
    assert.equal(connectionError(Object.assign(new Error('what it is'), { code, ...more }), name, now), expected);
  });
}

test('a status without its own error text includes the body', () => {
  assert.equal(statusError(500, 'boom'), 'an error on the server ("boom") has prevented the request from succeeding');
  assert.equal(statusError(403, 'no'), 'forbidden: no');
  assert.equal(
    statusError(418, ''),
    'the server responded with the status code 418 but did not return more information',
  );
});
