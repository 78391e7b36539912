import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '@kruise/api/core/configmap';
import { notFound } from '@kruise/machinery/status';
import { invalid } from '@kruise/schema/field-error';
import { admission, allow, conversion, defaulting, deny, mutate, validating, type Webhook } from './webhook.ts';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: 'c' } };

async function ask(webhook: Webhook, request: object = {}) {
  const review = {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'u',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      name: 'a',
      object,
      oldObject: null,
      ...request,
    },
  };
  const answer = (await webhook(review)) as { apiVersion: string; response: { [field: string]: unknown } };
  assert.equal(answer.apiVersion, 'admission.k8s.io/v1');
  return answer.response;
}

const patchIn = ({ patch }: { [field: string]: unknown }) =>
  JSON.parse(Buffer.from(String(patch), 'base64').toString());

test('an allowed request is allowed with its warnings', async () => {
  assert.deepEqual(await ask(admission(() => allow())), { uid: 'u', allowed: true });
  assert.deepEqual(await ask(admission(() => allow(['soon gone']))), {
    uid: 'u',
    allowed: true,
    warnings: ['soon gone'],
  });
});

test('a denied request has a reason', async () => {
  const { allowed, status } = await ask(admission(() => deny('not on Fridays')));
  assert.equal(allowed, false);
  assert.deepEqual(status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'not on Fridays',
    reason: 'Forbidden',
    code: 403,
  });
});

test('a mutated object is returned as a patch, an unchanged one without', async () => {
  const filled = defaulting<ConfigMap>((found) => ({ ...found, data: { ...found.data, added: 'yes' } }));
  const response = await ask(filled);
  assert.equal(response['patchType'], 'JSONPatch');
  assert.deepEqual(patchIn(response), [{ op: 'add', path: '/data/added', value: 'yes' }]);
  assert.deepEqual(await ask(admission<ConfigMap>((request) => mutate(request.object!))), { uid: 'u', allowed: true });
});

test('every field error is reported', async () => {
  const response = await ask(
    validating<ConfigMap>(function* () {
      yield invalid('data.b', 'c', 'must be d');
      yield invalid('data.e', 'f', 'must be g');
    }),
  );
  const { code, reason, message } = response['status'] as { code: number; reason: string; message: string };
  assert.deepEqual([code, reason], [422, 'Invalid']);
  assert.match(message, /ConfigMap "a" is invalid: \[data\.b: .*must be d, data\.e: .*must be g\]/);
});

test('a deletion is neither defaulted nor validated', async () => {
  const deletion = { object: null, oldObject: object, operation: 'DELETE' };
  const never = () => assert.fail('asked');
  assert.equal((await ask(defaulting(never), deletion))['allowed'], true);
  assert.equal((await ask(validating(never), deletion))['allowed'], true);
  let seen: unknown;
  await ask(
    admission((request) => {
      seen = request;
      return allow();
    }),
    deletion,
  );
  assert.equal('object' in (seen as object), false);
});

test('an error of a handler denies the request: with its own Status, or 500', async () => {
  const throwing = (error: unknown) =>
    ask(
      admission(() => {
        throw error;
      }),
    );
  const missing = await throwing(notFound({ group: '', plural: 'widgets' }, 'w'));
  assert.deepEqual([missing['allowed'], (missing['status'] as { code: number }).code], [false, 404]);
  const broken = await throwing(new TypeError('x is undefined'));
  assert.deepEqual([broken['allowed'], (broken['status'] as { code: number }).code], [false, 500]);
});

test('an object that is not a review is rejected', async () => {
  const webhook = admission(() => allow());
  for (const review of [null, 7, {}, { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' }]) {
    await assert.rejects(webhook(review), { code: 400 });
  }
  const old = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v9', request: { uid: 'u' } };
  await assert.rejects(webhook(old), { code: 400 });
});

test('objects are converted, those of the desired version unchanged', async () => {
  const upgrade = conversion((found) => ({ ...found, spec: { size: found['size'] } }));
  const request = {
    uid: 'u',
    desiredAPIVersion: 'example.com/v2',
    objects: [
      { apiVersion: 'example.com/v1', kind: 'Widget', size: 3 },
      { apiVersion: 'example.com/v2', kind: 'Widget', spec: { size: 4 } },
    ],
  };
  const review = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', request };
  const { response } = (await upgrade(review)) as { response: { convertedObjects: object[]; result: object } };
  assert.deepEqual(response.convertedObjects, [
    { apiVersion: 'example.com/v2', kind: 'Widget', size: 3, spec: { size: 3 } },
    { apiVersion: 'example.com/v2', kind: 'Widget', spec: { size: 4 } },
  ]);
  assert.deepEqual(response.result, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
});

test('a failed conversion returns no objects and the reason', async () => {
  const review = {
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { uid: 'u', desiredAPIVersion: 'example.com/v2', objects: [{ apiVersion: 'example.com/v1' }] },
  };
  const failing = conversion(() => {
    throw new Error('cannot tell');
  });
  const { response } = (await failing(review)) as {
    response: { convertedObjects: object[]; result: { message: string } };
  };
  assert.deepEqual([response.convertedObjects, response.result.message], [[], 'cannot tell']);
});
