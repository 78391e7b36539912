import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { ConfigMap } from '@kruise/api/core/configmap';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import fc from 'fast-check';
import { authorityHash, parseToken, tokenOf, tokenSecret, verifyClusterInfo } from './bootstrap-token.ts';

const token = { id: 'abcdef', secret: '0123456789abcdef' };
const nowMs = Date.UTC(2026, 0, 1);
const authority = createCertificateAuthority('test', nowMs).certificate;
const content = JSON.stringify({
  clusters: [
    {
      cluster: {
        server: 'https://10.0.0.1:6443',
        'certificate-authority-data': Buffer.from(authority).toString('base64'),
      },
    },
  ],
});

function signed(text: string, { id, secret } = token): Pick<ConfigMap, 'data'> {
  const encode = (each: string) => Buffer.from(each).toString('base64url');
  const header = encode(JSON.stringify({ alg: 'HS256', kid: id }));
  const signature = createHmac('sha256', secret)
    .update(`${header}.${encode(text)}`)
    .digest('base64url');
  return { data: { kubeconfig: text, [`jws-kubeconfig-${id}`]: `${header}..${signature}` } };
}

const proof = { token, hashes: [authorityHash(authority)] };

test('a cluster is known by its signed description', () => {
  assert.deepEqual(verifyClusterInfo(signed(content), proof), { server: 'https://10.0.0.1:6443', authority });
});

for (const [title, info, message] of [
  ['changed after it was signed', { data: { ...signed(content).data, kubeconfig: `${content} ` } }, /not signed/],
  ['signed with another secret', signed(content, { ...token, secret: 'fedcba9876543210' }), /not signed/],
  ['signed with another token only', signed(content, { ...token, id: 'zzzzzz' }), /not valid for this cluster/],
  ['not signed', { data: { kubeconfig: content } }, /not valid for this cluster/],
] as const) {
  test(`a description that is ${title} is rejected`, () => {
    assert.throws(() => verifyClusterInfo(info, proof), message);
  });
}

test('a signature without an algorithm is rejected', () => {
  const header = Buffer.from(JSON.stringify({ alg: 'none', kid: token.id })).toString('base64url');
  const info = { data: { kubeconfig: content, 'jws-kubeconfig-abcdef': `${header}..` } };
  assert.throws(() => verifyClusterInfo(info, proof), /not signed/);
});

test('a cluster with another CA is rejected', () => {
  const other = authorityHash(createCertificateAuthority('test', nowMs).certificate);
  assert.throws(
    () => verifyClusterInfo(signed(content), { token, hashes: [other] }),
    /does not have the expected hash/,
  );
});

test('every made token can be parsed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 128, maxLength: 128 }), (bytes) => {
      let made: ReturnType<typeof tokenOf>;
      try {
        made = tokenOf(bytes);
      } catch (error) {
        assert.match((error as Error).message, /too few random bytes/);
        return;
      }
      assert.deepEqual(parseToken(`${made.id}.${made.secret}`), made);
    }),
  );
  assert.equal(tokenOf(randomBytes(128)).secret.length, 16);
});

for (const text of ['', 'abcdef', 'ABCDEF.0123456789abcdef', 'abcdef.0123', 'abcdef.0123456789abcdef0']) {
  test(`the token ${JSON.stringify(text)} is rejected`, () => {
    assert.throws(() => parseToken(text), /--token must be a bootstrap token/);
  });
}

test('the Secret of a token permits signing and authentication until it expires', () => {
  const { metadata, stringData, type } = tokenSecret(token, nowMs);
  assert.equal(metadata?.name, 'bootstrap-token-abcdef');
  assert.equal(type, 'bootstrap.kubernetes.io/token');
  assert.equal(stringData?.['usage-bootstrap-signing'], 'true');
  assert.equal(stringData?.['expiration'], '2026-01-01T00:00:00Z');
  assert.equal(tokenSecret(token, undefined).stringData?.['expiration'], undefined);
});
