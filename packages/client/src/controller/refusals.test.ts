import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alreadyExists,
  badRequest,
  conflict,
  failure,
  forbidden,
  internalError,
  invalid,
  StatusError,
  tooManyRequests,
} from '@kruise/machinery/status';
import { virtualClock } from '@kruise/values/virtual-clock';
import { TransportError } from '../api/http-transport.ts';
import type { KubernetesObject } from '../cache/object-key.ts';
import { create, patch, remove, update } from './actions.ts';
import { createRefusals, isInconclusive, isRefused, isRefusedByValidation, refusalIdOf } from './refusals.ts';

const pods = { group: '', plural: 'pods' };
const denied = forbidden(pods, 'web-1', 'denied by policy');
const wrong = invalid({ group: '', kind: 'Pod' }, 'web-1', [
  { reason: 'FieldValueForbidden', field: 'spec', message: 'Forbidden: no' },
]);
const deniedAsInvalid = new StatusError(failure({ code: 422, reason: 'Invalid', message: 'denied by policy' }));
const overQuota = forbidden(pods, 'web-1', 'exceeded quota: small, requested: pods=1');

const podOf = (metadata: object): KubernetesObject => ({ apiVersion: 'v1', kind: 'Pod', metadata });
const web = podOf({ namespace: 'default', name: 'web-1', uid: '1' });

const setOf = (metadata: object, spec: object = {}, status: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Set',
    metadata: { name: 'web', uid: 'a', ...metadata },
    spec,
    status,
  }) as KubernetesObject;

/** Returns the delays in seconds of a write that fails again at the end of each backoff. */
function delaysOf(error: unknown, { times = 12, id = 'create v1 Pod web' } = {}) {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  return Array.from({ length: times }, () => {
    refusals.refuse('default/web', id, error);
    const { retryInMs = 0 } = refusals.inBackoff('default/web', id) ?? {};
    clock.advance(retryInMs);
    return retryInMs / 1000;
  });
}

const backoffs = [
  { name: 'a rejected write', error: denied, delays: [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300] },
  { name: 'an invalid write', error: wrong, delays: [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300] },
  {
    name: 'a rejected deletion',
    error: denied,
    id: 'remove v1 Pod web',
    delays: [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30],
  },
  {
    name: 'a write that an exhausted budget denies',
    error: forbidden({ group: '', plural: 'pods' }, 'web', 'podunavailablebudget.policy.kruise.io "pub" is forbidden'),
    delays: [1, 2, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5],
  },
  {
    name: 'a write with a server error',
    error: internalError('webhook'),
    delays: [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24],
  },
  {
    name: 'a write among too many requests',
    error: tooManyRequests('busy', 1),
    delays: [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24],
  },
  {
    name: 'a write without a response',
    error: new TransportError('reset', { wasSent: true }),
    delays: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  },
];
for (const { name, error, delays, ...options } of backoffs) {
  test(`the backoff of ${name} grows each time`, () => {
    assert.deepEqual(delaysOf(error, options), delays);
  });
}

test('a write that succeeds starts at the initial backoff when it is rejected again', () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  refusals.refuse('web', 'x', denied);
  refusals.refuse('web', 'x', denied);
  refusals.accept('web', 'x');
  assert.equal(refusals.inBackoff('web', 'x'), undefined);
  refusals.refuse('web', 'x', denied);
  assert.equal(refusals.inBackoff('web', 'x')?.retryInMs, 1000);
});

test('an old rejection is ignored', () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  for (let time = 0; time < 5; time++) refusals.refuse('web', 'x', denied);
  clock.advance(16_000 + 300_000);
  assert.equal(refusals.find('web', 'x')?.attempts, 5);
  clock.advance(1);
  refusals.refuse('web', 'x', denied);
  assert.equal(refusals.find('web', 'x')?.attempts, 1);
});

const intents = [
  { name: 'another status', after: setOf({ generation: 1 }, {}, { ready: 1 }), isHeld: true },
  { name: 'another annotation', after: setOf({ generation: 1, annotations: { a: 'b' } }), isHeld: true },
  { name: 'another resourceVersion', after: setOf({ generation: 1, resourceVersion: '9' }), isHeld: true },
  { name: 'another generation', after: setOf({ generation: 2 }), isHeld: false },
  { name: 'its deletion', after: setOf({ generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z' }), isHeld: false },
  { name: 'another object of its name', after: setOf({ generation: 1, uid: 'b' }), isHeld: false },
];
for (const { name, after, isHeld } of intents) {
  test(`${name} ${isHeld ? 'keeps a rejected write in backoff' : 'ends the backoff of a rejected write'}`, () => {
    const refusals = createRefusals(virtualClock());
    refusals.begin('web', setOf({ generation: 1 }));
    refusals.refuse('web', 'x', denied);
    refusals.end('web');
    const refused = refusals.begin('web', after);
    assert.equal(refusals.inBackoff('web', 'x') !== undefined, isHeld);
    assert.equal(refused.hasAny(), isHeld);
  });
}

test('for a kind without generation another spec is another intent, another status is not', () => {
  const refusals = createRefusals(virtualClock());
  refusals.begin('web', setOf({}, { a: 1 }));
  refusals.refuse('web', 'x', denied);
  refusals.begin('web', setOf({}, { a: 1 }, { ready: 1 }));
  assert.ok(refusals.inBackoff('web', 'x'));
  refusals.begin('web', setOf({}, { a: 2 }));
  assert.equal(refusals.inBackoff('web', 'x'), undefined);
});

test('a key is requeued at the end of its first backoff', () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  refusals.refuse('web', 'x', denied);
  refusals.refuse('web', 'x', denied);
  refusals.refuse('web', 'y', denied);
  assert.equal(refusals.end('web'), 1000);
  clock.advance(1000);
  assert.equal(refusals.end('web'), 1000);
  clock.advance(1000);
  assert.equal(refusals.end('web'), undefined);
  assert.equal(refusals.end('other'), undefined);
});

test('a key is requeued at once if a backoff has ended during its reconcile', () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  refusals.refuse('web', 'x', denied);
  clock.advance(900);
  refusals.begin('web', undefined);
  assert.ok(refusals.inBackoff('web', 'x'));
  clock.advance(200);
  assert.equal(refusals.end('web'), 0);
  refusals.begin('web', undefined);
  assert.equal(refusals.inBackoff('web', 'x'), undefined);
  assert.equal(refusals.end('web'), undefined);
});

test('the record of a key is bounded', () => {
  const refusals = createRefusals(virtualClock());
  for (let index = 0; index <= 1000; index++) {
    refusals.refuse('web', `write ${index}`, denied);
    refusals.acceptDryRun('web', `dry run ${index}`);
  }
  const refused = refusals.begin('web', undefined);
  assert.deepEqual([refused.find('write 0'), refused.find('write 1')?.attempts], [undefined, 1]);
  assert.deepEqual([refused.isDryRunAccepted('dry run 0'), refused.isDryRunAccepted('dry run 1')], [false, true]);
});

const ids = [
  { name: 'Pods that are given names', a: create(podOf({ generateName: 'web-', name: 'web-1' })), isSame: true },
  { name: 'two named Pods', a: create(podOf({ name: 'web-1' })), isSame: false },
  { name: 'a patch and a deletion', a: patch(web, {}), b: remove(web), isSame: false },
  { name: 'an object and its status', a: update(web), b: { ...update(web), subresource: 'status' }, isSame: false },
  { name: 'two patches of an object', a: patch(web, { a: 1 }), b: patch(web, { b: 1 }), isSame: true },
];
for (const { name, a, b, isSame } of ids) {
  test(`${name} are ${isSame ? 'one write' : 'two writes'}`, () => {
    const { generateName } = a.object.metadata;
    const other = b ?? create(podOf({ name: 'web-2', ...(generateName ? { generateName } : {}) }));
    assert.equal(refusalIdOf(a) === refusalIdOf(other), isSame);
  });
}

const answers = [
  { name: 'a policy', error: denied, refused: true, byValidation: false, inconclusive: false },
  {
    name: 'a policy that says invalid',
    error: deniedAsInvalid,
    refused: true,
    byValidation: false,
    inconclusive: false,
  },
  { name: 'the rules of the kind', error: wrong, refused: true, byValidation: true, inconclusive: false },
  { name: 'a quota', error: overQuota, refused: true, byValidation: false, inconclusive: true },
  { name: 'a conflict', error: conflict(pods, 'web-1', 'x'), refused: false, byValidation: false, inconclusive: false },
  {
    name: 'a name taken',
    error: alreadyExists(pods, 'web-1'),
    refused: false,
    byValidation: false,
    inconclusive: true,
  },
  {
    name: 'a webhook without dry runs',
    error: badRequest('does not support dry run'),
    refused: true,
    byValidation: false,
    inconclusive: true,
  },
  { name: 'a failure', error: internalError('x'), refused: false, byValidation: false, inconclusive: false },
];
for (const { name, error, ...expected } of answers) {
  test(`the response of ${name} to a create is classified`, () => {
    assert.deepEqual(
      {
        refused: isRefused(error),
        byValidation: isRefusedByValidation(error),
        inconclusive: isInconclusive(error, create(web)),
      },
      expected,
    );
  });
}

test('an exceeded quota rejects an update for good, because no quota is released before it', () => {
  assert.equal(isInconclusive(overQuota, patch(web, {})), false);
});
