import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { formatTime, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 10);
const [hour, day] = [3600, 86_400];
const ago = (seconds: number) => formatTime(now - seconds * 1000);
const authority = createCertificateAuthority('ca', now - 20 * day * 1000);

/** Returns a certificate that is valid for some seconds from now. */
function certificateFor(seconds: number): string {
  const madeMs = now - 10 * day * 1000;
  const validMs = now + seconds * 1000 - madeMs;
  const { certificate } = authority.issue({ subject: { commonName: 'n' }, usages: [], nowMs: madeMs, validMs });
  return Buffer.from(certificate).toString('base64');
}

function requestOf(made: number, conditions: readonly [type: string, ago: number][], certificate?: string) {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r', creationTimestamp: ago(made) },
    spec: { request: '', signerName: 'example.com/a' },
    status: {
      conditions: conditions.map(([type, seconds]) => ({ type, status: 'True', lastUpdateTime: ago(seconds) })),
      ...(certificate ? { certificate } : {}),
    },
  } as CertificateSigningRequest;
}

const good = certificateFor(30 * day);
const cases: readonly { name: string; request: CertificateSigningRequest; comes: 'deleted' | 'kept' | number }[] = [
  { name: 'a pending request is kept for a day', request: requestOf(day, []), comes: 1 },
  { name: 'a pending request is deleted after a day', request: requestOf(day + 1, []), comes: 'deleted' },
  {
    name: 'an approved request without a certificate is kept',
    request: requestOf(9 * day, [['Approved', 9 * day]]),
    comes: 'kept',
  },
  {
    name: 'an issued request is kept for an hour',
    request: requestOf(9 * day, [['Approved', hour - 60]], good),
    comes: 61,
  },
  {
    name: 'an issued request is deleted after an hour',
    request: requestOf(9 * day, [['Approved', hour + 1]], good),
    comes: 'deleted',
  },
  {
    name: 'a denied request is deleted after an hour',
    request: requestOf(2 * hour, [['Denied', hour + 1]]),
    comes: 'deleted',
  },
  { name: 'a denied request is kept for an hour', request: requestOf(2 * hour, [['Denied', 0]]), comes: hour + 1 },
  {
    name: 'a failed request is deleted after an hour',
    request: requestOf(2 * hour, [
      ['Approved', 7200],
      ['Failed', hour + 1],
    ]),
    comes: 'deleted',
  },
  {
    name: 'a request with an expired certificate is deleted at once',
    request: requestOf(hour, [['Approved', 60]], certificateFor(-1)),
    comes: 'deleted',
  },
  {
    name: 'a request whose certificate expires soon is deleted then',
    request: requestOf(hour, [['Approved', 60]], certificateFor(20)),
    comes: 21,
  },
  {
    name: 'a request with an unreadable certificate is deleted like the others',
    request: requestOf(hour, [['Approved', 60]], 'AAAA'),
    comes: hour - 60 + 1,
  },
];
for (const { name, request, comes } of cases) {
  test(name, () => {
    const { actions, requeueAfterSeconds } = decide(request, now);
    assert.equal(actions.length > 0 ? 'deleted' : (requeueAfterSeconds ?? 'kept'), comes);
  });
}

test('no request is deleted early, and after the requeue delay it is due', () => {
  const condition = fc.tuple(fc.constantFrom('Approved', 'Denied', 'Failed'), fc.nat(3 * hour));
  const some = fc.uniqueArray(condition, { selector: ([type]) => type, maxLength: 3 });
  fc.assert(
    fc.property(fc.nat(2 * day), some, fc.boolean(), (made, conditions, isSigned) => {
      const request = requestOf(made, conditions, isSigned ? good : undefined);
      const { actions, requeueAfterSeconds } = decide(request, now);
      const decided = conditions.filter(([type]) => type !== 'Approved' || isSigned).map(([, ago]) => ago);
      const isOver = conditions.length === 0 ? made > day : decided.some((ago) => ago > hour);
      assert.equal(actions.length > 0, isOver);
      if (requeueAfterSeconds === undefined) return;
      assert.equal(decide(request, now + requeueAfterSeconds * 1000).actions.length, 1);
    }),
  );
});
