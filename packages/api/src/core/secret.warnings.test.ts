import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isValidCaBundle } from '../meta/webhook.validate.ts';
import { secretWarnings } from './secret.warnings.ts';

// A tenant may write a Secret of a megabyte. In quadratic time its blocks take minutes, in linear time milliseconds.
const unended = Buffer.from('-----BEGIN CERTIFICATE-----\n'.repeat(40_000)).toString('base64');

test('a megabyte of unterminated blocks is parsed in linear time', { timeout: 10_000 }, () => {
  const began = performance.now();
  const secret = { type: 'kubernetes.io/tls', metadata: {}, data: { 'tls.crt': unended, 'tls.key': unended } };
  assert.deepEqual(
    [...secretWarnings({ apiVersion: 'v1', kind: 'Secret', ...secret })],
    ['tls: failed to find any PEM data in certificate input'],
  );
  assert.equal(isValidCaBundle(unended), false);
  assert.ok(performance.now() - began < 1000);
});
