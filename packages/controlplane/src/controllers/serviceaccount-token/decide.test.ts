import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@kruise/api/core/secret';
import type { ServiceAccount } from '@kruise/api/core/serviceaccount';
import fc from 'fast-check';
import { objectAfter } from '../../testing/execute-actions.ts';
import { accountUidOf, decide, type Observed } from './decide.ts';

const account = (uid = 'u'): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'default', uid },
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

function secretOf(annotations: Readonly<Record<string, string>>, data: Readonly<Record<string, string>> = {}): Secret {
  const named = { 'kubernetes.io/service-account.name': 'robot', ...annotations };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'robot-token', namespace: 'default', annotations: named },
    type: 'kubernetes.io/service-account-token',
    data,
  };
}

const observe = (secret: Secret, found: ServiceAccount | undefined): Observed => ({
  secret,
  account: found,
  referring: [],
  authorities: 'trusted',
  tokenFor: ({ metadata }) => `token of ${metadata.uid}`,
});

test('any token Secret gets a token, the CA bundle and its namespace, or is deleted with its account', () => {
  const uid = fc.constantFrom(
    {},
    { 'kubernetes.io/service-account.uid': 'u' },
    { 'kubernetes.io/service-account.uid': 'v' },
  );
  const data = fc.dictionary(fc.constantFrom('token', 'ca.crt', 'namespace', 'more'), fc.constant(base64('there')));
  fc.assert(
    fc.property(uid, data, fc.boolean(), (annotations, present, isThere) => {
      const before = secretOf(annotations, present);
      const found = isThere ? account() : undefined;
      const after = objectAfter(before, decide(observe(before, found)));
      const isOfAnother = accountUidOf(before) === 'v';
      assert.equal(after === undefined, !isThere || isOfAnother);
      if (!after) return;
      assert.deepEqual(decide(observe(after, found)).actions, []);
      assert.deepEqual(after.data, {
        ...present,
        'ca.crt': base64('trusted'),
        namespace: present['namespace'] ?? base64('default'),
        token: present['token'] ?? base64('token of u'),
      });
    }),
  );
});
