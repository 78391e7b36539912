import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { pod } from '@kruise/api/core/pod';
import {
  alreadyExists,
  badRequest,
  conflict,
  failure,
  forbidden,
  internalError,
  notFound,
  StatusError,
  tooManyRequests,
} from '@kruise/machinery/status';
import { stringify } from '@kruise/values/go-json';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createClient } from '../api/client.ts';
import { TransportError } from '../api/http-transport.ts';
import type { ApiRequest } from '../api/transport.ts';
import type { KubernetesObject } from '../cache/object-key.ts';
import {
  type Action,
  afterDryRun,
  apply,
  asIndependent,
  asOptional,
  create,
  effect,
  type NewEvent,
  parallel,
  parallelByKind,
  patch,
  record,
  remove,
  requireExists,
  requireGone,
  type Step,
  sequence,
  update,
  withOutcomeEvents,
} from './actions.ts';
import { execute } from './execute.ts';
import { createExpectations, type ObservedCache } from './expectations.ts';
import { createRefusals } from './refusals.ts';

const objectOf = (kind: string, name: string, more: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1', ...more },
});
const makePod = (name: string) => objectOf('Pod', name);
const makeConfigMap = (name: string) => objectOf('ConfigMap', name);

type Answers = (request: ApiRequest) => unknown;

/** A cache that is up to date and contains at most one object. */
const cacheOf = (known?: KubernetesObject): ObservedCache => ({
  get: () => known,
  hasReached: () => true,
  getLive: async () => undefined,
});

/** Executes actions. Returns the requests, concurrent ones in one line, and the outcome. */
async function executeActions(
  steps: readonly Step[],
  answer: Answers = ({ body }) => body,
  cache: ObservedCache = cacheOf(),
  refusals = createRefusals(virtualClock()),
) {
  const uncertainWrites: string[] = [];
  const expectations = createExpectations(virtualClock());
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const events: NewEvent[] = [];
  let together: string[] = [];
  const client = createClient({
    async request(request) {
      const { name = '' } = (request.body as KubernetesObject | undefined)?.metadata ?? {};
      const place = request.path.split('/').at(-1);
      const how = request.query?.['dryRun'] ? `dry ${request.method}` : request.method;
      together.push(`${how} ${request.method === 'POST' ? name : place}`);
      bodies.push(request.body);
      if (together.length === 1) {
        setImmediate(() => {
          asked.push(together.join(', '));
          together = [];
        });
      }
      await new Promise((resolve) => setImmediate(resolve));
      return { code: 200, object: answer(request), warnings: [] };
    },
    async *watch() {},
  });
  const outcome = await execute(
    {
      client,
      random: seededRandom(1),
      expectations: {
        ...expectations,
        uncertainWrite: (_owner, _cache, { metadata }) => uncertainWrites.push(metadata.name!),
      },
      refusals,
      kinds: [pod, configMap],
      cachesFor: () => [cache],
      record: (event) => events.push(event),
      effects: { note: async (input) => void asked.push(`note ${input}`) },
      fieldManager: 'tester',
      signal: new AbortController().signal,
    },
    'default/owner',
    steps,
  );
  return {
    asked,
    bodies,
    uncertainWrites,
    events,
    outcome,
    outstanding: expectations.unsatisfied('default/owner'),
  };
}

test('parallel actions are sent with a slow start of one, two, four', async () => {
  const creations = ['a', 'b', 'c', 'd', 'e'].map((name) => create(makePod(name)));
  const { asked } = await executeActions(parallel(creations));
  assert.deepEqual(asked, ['POST a', 'POST b, POST c', 'POST d, POST e']);
});

test('actions without `parallel` are sent one after the other', async () => {
  const { asked } = await executeActions(['a', 'b', 'c'].map((name) => create(makePod(name))));
  assert.deepEqual(asked, ['POST a', 'POST b', 'POST c']);
});

test('a step starts when all parallel actions of the step before have ended', async () => {
  const creations = ['a', 'b', 'c'].map((name) => create(makePod(name)));
  const { asked } = await executeActions([...parallel(creations), create(makePod('d'))]);
  assert.deepEqual(asked, ['POST a', 'POST b, POST c', 'POST d']);
});

test('at most some hundred writes are sent concurrently', async () => {
  const actions = Array.from({ length: 1000 }, (_, index) => create(makePod(`p${index}`)));
  const { asked } = await executeActions(parallel(actions));
  const sizes = asked.map((line) => line.split(', ').length);
  assert.deepEqual(sizes, [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 233]);
});

test('patches of different objects are sent concurrently, patches of one object sequentially', async () => {
  const patches = ['a', 'b', 'c', 'c', 'd'].map((name) => patch(makePod(name), {}));
  // The second patch of c waits for the first one; the patch of d only for a free worker.
  assert.deepEqual((await executeActions(parallelByKind(patches))).asked, [
    'PATCH a',
    'PATCH b, PATCH c',
    'PATCH d, PATCH c',
  ]);
});

const twoPatches = (name: string) => sequence([patch(makePod(name), {}), patch(makePod(name), {})]);

test('the actions of a sequence are sent one after the other, beside other sequences', async () => {
  assert.deepEqual((await executeActions(parallel(['a', 'b', 'c'].flatMap(twoPatches)))).asked, [
    'PATCH a',
    'PATCH a',
    'PATCH b, PATCH c',
    'PATCH b, PATCH c',
  ]);
});

test('a failure ends its sequence, but not concurrent ones', async () => {
  const [first, last] = [patch(makePod('a'), {}), patch(makePod('d'), {})];
  const patches = parallel([first, ...twoPatches('b'), ...twoPatches('c'), last]);
  const { asked, outcome } = await executeActions(patches, ({ path, body }) => {
    if (path.endsWith('/b')) throw internalError('no');
    return body;
  });
  assert.deepEqual(asked, ['PATCH a', 'PATCH b, PATCH c', 'PATCH c']);
  assert.equal(outcome.failures.length, 1);
});

test('a patch with a live read of its owner is sent before the following ones', async () => {
  const owner = makeConfigMap('owner');
  const patches = ['a', 'b', 'c'].map((name) => patch(makePod(name), {}));
  const actions = [patches[0]!, requireExists(patches[1]!, owner), patches[2]!];
  const answer: Answers = ({ method }) => (method === 'GET' ? owner : undefined);
  assert.deepEqual((await executeActions(parallelByKind(actions), answer)).asked, [
    'PATCH a',
    'GET owner',
    'PATCH b',
    'PATCH c',
  ]);
});

test('actions of different types are sent in order', async () => {
  const { asked } = await executeActions([
    create(makeConfigMap('a')),
    create(makePod('b')),
    patch(makePod('c'), {}),
    remove(makePod('d')),
    remove(makePod('e')),
  ]);
  assert.deepEqual(asked, ['POST a', 'POST b', 'PATCH c', 'DELETE d', 'DELETE e']);
});

test('a failed independent action does not stop the others and is reported', async () => {
  const creations = ['a', 'b', 'c', 'd'].map((name) => asIndependent(create(makePod(name))));
  const { asked, outcome } = await executeActions([...parallel(creations), create(makeConfigMap('e'))], ({ body }) => {
    if ((body as KubernetesObject | undefined)?.metadata.name === 'b') throw internalError('no');
    return body;
  });
  assert.equal(asked.join(', '), 'POST a, POST b, POST c, POST d, POST e');
  assert.deepEqual(
    outcome.failures.map(({ action }) => action),
    [creations[1]],
  );
});

test('a failure stops the following actions and is reported', async () => {
  const error = internalError('no');
  const actions = ['a', 'b', 'c', 'd'].map((name) => create(makePod(name)));
  const { asked, outcome } = await executeActions(parallel(actions), ({ body }) => {
    if ((body as KubernetesObject).metadata.name === 'b') throw error;
    return body;
  });
  assert.deepEqual(asked, ['POST a', 'POST b, POST c']);
  assert.deepEqual(outcome.failures, [{ action: actions[1], error }]);
  assert.equal(outcome.isStale, false);
});

test('the event of a failed create contains the object, whatever its contents', async () => {
  const failed = { reason: 'FailedCreate', message: 'no {name}: {error}, {object}' };
  const made = { ...makeConfigMap('a'), data: { text: '{error} $1' } };
  const { events } = await executeActions([withOutcomeEvents(create(made), { about: makePod('x'), failed })], () => {
    throw internalError('no');
  });
  const { message } = internalError('no');
  assert.equal(events[0]?.message, `no a: ${message}, ${stringify(made)}`);
});

test('the failure of an optional action is recorded and does not stop the others', async () => {
  const failed = { reason: 'FailedCreate', message: 'no {name}: {error}' };
  const actions = [
    asOptional(withOutcomeEvents(create(makePod('a')), { about: makePod('x'), failed })),
    asOptional(create(makeConfigMap('b'))),
    create(makePod('c')),
  ];
  const { asked, events, outcome } = await executeActions(actions, ({ body }) => {
    const { name } = (body as KubernetesObject).metadata;
    if (name === 'a') throw internalError('no');
    if (name === 'b') throw alreadyExists(resource, 'b');
    return body;
  });
  assert.deepEqual(asked, ['POST a', 'POST b', 'POST c']);
  assert.deepEqual([outcome.failures, outcome.isStale], [[], false]);
  assert.equal(events[0]?.reason, 'FailedCreate');
});

const resource = { group: '', plural: 'pods' };
const outdated: { name: string; action: Action; error: StatusError }[] = [
  { name: 'a conflict', action: update(makePod('a')), error: conflict(resource, 'a', 'modified') },
  { name: 'a creation of what is there', action: create(makePod('a')), error: alreadyExists(resource, 'a') },
  { name: 'a change of what is gone', action: patch(makePod('a'), {}), error: notFound(resource, 'a') },
];
for (const { name, action, error } of outdated) {
  test(`${name} is not a failure, but marks the decision as stale`, async () => {
    const { asked, outcome } = await executeActions(
      [action, record({ about: makePod('a'), type: 'Normal', reason: 'A', message: 'b' })],
      () => {
        throw error;
      },
    );
    assert.equal(asked.length, 1);
    assert.deepEqual([outcome.failures, outcome.isStale], [[], true]);
  });
}

for (const error of [notFound(resource, 'a'), conflict(resource, 'a', 'the uid differs')]) {
  test(`a deletion that fails with ${error.reason} has succeeded`, async () => {
    const { outcome } = await executeActions([remove(makePod('a'))], () => {
      throw error;
    });
    assert.deepEqual([outcome.failures, outcome.isStale], [[], false]);
  });
}

test('a deletion and a patch have the uid as a precondition', async () => {
  const { bodies } = await executeActions([
    remove(makePod('a')),
    patch(makePod('b'), { metadata: { labels: { x: 'y' } } }),
  ]);
  assert.deepEqual((bodies[0] as { preconditions: object }).preconditions, { uid: 'uid-a' });
  assert.deepEqual(bodies[1], { metadata: { uid: 'uid-b', labels: { x: 'y' } } });
});

test('the options of a deletion are passed to the server', async () => {
  const { bodies } = await executeActions([{ ...remove(makePod('a')), options: { gracePeriodSeconds: 0 } }]);
  assert.equal((bodies[0] as { gracePeriodSeconds: number }).gracePeriodSeconds, 0);
});

test('events report the outcome of an action', async () => {
  const owner = makeConfigMap('owner');
  const withEvents = {
    about: owner,
    done: { reason: 'Made', message: 'Created pod: {name}' },
    failed: { reason: 'NotMade', message: 'Error creating: {error}' },
  };
  const generated = withOutcomeEvents(create(objectOf('Pod', '', { generateName: 'web-' })), withEvents);
  const { events } = await executeActions([generated], () => makePod('web-$&x'));
  assert.deepEqual(events, [{ about: owner, type: 'Normal', reason: 'Made', message: 'Created pod: web-$&x' }]);
  const failed = await executeActions([generated], () => {
    throw internalError('full');
  });
  assert.deepEqual(failed.events, [
    { about: owner, type: 'Warning', reason: 'NotMade', message: 'Error creating: Internal error occurred: full' },
  ]);
});

test('no event is recorded for a terminating namespace', async () => {
  const withEvents = { about: makeConfigMap('owner'), failed: { reason: 'NotMade', message: '{error}' } };
  const error = new StatusError(
    failure({
      code: 403,
      reason: 'Forbidden',
      message: 'no',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    }),
  );
  const { events, outcome } = await executeActions([withOutcomeEvents(create(makePod('a')), withEvents)], () => {
    throw error;
  });
  assert.deepEqual([events, outcome.failures.length], [[], 1]);
});

test('an action that requires an object reads it live, and is skipped if it is gone or terminating', async () => {
  const owner = makeConfigMap('owner');
  const action = requireExists(patch(makePod('a'), {}), owner);
  const answers: { [state: string]: Answers } = {
    there: ({ method, body }) => (method === 'GET' ? owner : body),
    going: ({ method, body }) =>
      method === 'GET' ? objectOf('ConfigMap', 'owner', { deletionTimestamp: 'now' }) : body,
    another: ({ method, body }) => (method === 'GET' ? objectOf('ConfigMap', 'owner', { uid: 'other' }) : body),
  };
  assert.deepEqual((await executeActions([action], answers['there'])).asked, ['GET owner', 'PATCH a']);
  for (const state of ['going', 'another']) {
    const { asked, outcome } = await executeActions([action], answers[state]);
    assert.deepEqual([asked, outcome.isStale], [['GET owner'], true]);
  }
});

test('an action that requires an absent object reads it live, and is skipped if it exists', async () => {
  const owner = makeConfigMap('owner');
  const action = requireGone(remove(makePod('a')), owner);
  const none: Answers = ({ method }) => {
    if (method === 'GET') throw notFound({ group: '', plural: 'configmaps' }, 'owner');
    return {};
  };
  const another: Answers = ({ method }) =>
    method === 'GET' ? objectOf('ConfigMap', 'owner', { uid: 'other' }) : undefined;
  for (const state of [none, another]) {
    assert.deepEqual((await executeActions([action], state)).asked, ['GET owner', 'DELETE a']);
  }
  const { asked, outcome } = await executeActions([action], () => owner);
  assert.deepEqual([asked, outcome.isStale], [['GET owner'], true]);
});

const failures: { name: string; error: Error; isUncertain: boolean }[] = [
  { name: 'lost its response', error: new TransportError('no answer', { wasSent: true }), isUncertain: true },
  { name: 'was never sent', error: new TransportError('refused', { wasSent: false }), isUncertain: false },
  { name: 'failed in the server', error: internalError('no'), isUncertain: true },
  { name: 'was throttled', error: tooManyRequests('later', 1), isUncertain: false },
  { name: 'was rejected', error: forbidden(resource, 'a', 'no'), isUncertain: false },
];
for (const { name, error, isUncertain } of failures) {
  test(`the result of a write that ${name} is ${isUncertain ? 'unknown' : 'known'}`, async () => {
    for (const action of [create(makePod('a')), update(makePod('a')), patch(makePod('a'), {}), remove(makePod('a'))]) {
      const { uncertainWrites, outcome } = await executeActions([action], () => {
        throw error;
      });
      assert.deepEqual([uncertainWrites, outcome.failures.length], [isUncertain ? ['a'] : [], 1]);
    }
  });
}

const lastWords: { name: string; answer: object; isEnd: boolean }[] = [
  { name: 'nothing keeps', answer: { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0 }, isEnd: true },
  { name: 'a grace period keeps', answer: { deletionTimestamp: 'now', deletionGracePeriodSeconds: 30 }, isEnd: false },
  { name: 'a finalizer keeps', answer: { deletionTimestamp: 'now', finalizers: ['its/own'] }, isEnd: false },
  { name: 'is not on its way out', answer: {}, isEnd: false },
];
for (const { name, answer, isEnd } of lastWords) {
  test(`a patched object that ${name} is expected ${isEnd ? 'to be gone' : 'in its new version'}`, async () => {
    const before = objectOf('Pod', 'a', { deletionTimestamp: 'now', finalizers: ['a/b'] });
    const after = objectOf('Pod', 'a', answer);
    const { outstanding } = await executeActions([patch(before, {})], () => after, cacheOf(before));
    assert.equal(outstanding?.count, isEnd ? 1 : undefined);
  });
}

test('a generated name is chosen by the client, so that the object can be read if the response is lost', async () => {
  const { bodies, uncertainWrites } = await executeActions(
    [create(objectOf('Pod', '', { generateName: 'web-' }))],
    () => {
      throw internalError('no');
    },
  );
  const { name, generateName } = (bodies[0] as KubernetesObject).metadata;
  assert.match(name!, /^web-[a-z0-9]{5}$/);
  assert.deepEqual([generateName, uncertainWrites], ['web-', [name]]);
});

test('effects run in order with the other actions', async () => {
  const { asked, outcome } = await executeActions([
    create(makePod('a')),
    effect('note', 1),
    remove(makePod('b')),
    effect('nothing', 2),
  ]);
  assert.deepEqual(asked, ['POST a', 'note 1', 'DELETE b']);
  assert.match(String(outcome.failures[0]?.error), /effect nothing is not defined/);
});

test('an apply takes the ownership of its fields from other managers', async () => {
  let query: ApiRequest['query'];
  await executeActions([apply(makePod('a'))], (request) => {
    query = request.query;
    return request.body;
  });
  assert.deepEqual([query?.['fieldManager'], query?.['force']], ['tester', true]);
});

test('a write of a kind that the controller does not declare fails', async () => {
  const { outcome } = await executeActions([create(objectOf('Secret', 'a'))]);
  assert.match(String(outcome.failures[0]?.error), /v1 Secret is not declared by the controller/);
});

const pods = { group: '', plural: 'pods' };
const deny =
  (...names: readonly string[]): Answers =>
  ({ path, body, method }) => {
    const { name = '' } = (body as KubernetesObject | undefined)?.metadata ?? {};
    const place = method === 'POST' ? name : path.split('/').at(-1)!;
    if (names.includes(place)) throw forbidden(pods, place, 'no');
    return body;
  };

test('a rejected write and its dependents are not sent again before the backoff ends', async () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  const actions = [create(makePod('a')), patch(makeConfigMap('b'), {})];
  const run = () => executeActions(actions, deny('a'), cacheOf(), refusals);
  const first = await run();
  assert.deepEqual(first.asked, ['POST a']);
  const held = await run();
  assert.deepEqual(held.asked, []);
  assert.deepEqual(
    held.outcome.failures.map(({ action, isInBackoff }) => [action, isInBackoff]),
    [[actions[0], true]],
  );
  assert.equal(held.outcome.failures[0]?.error, first.outcome.failures[0]?.error);
  clock.advance(1000);
  assert.deepEqual((await run()).asked, ['POST a']);
  assert.deepEqual((await run()).asked, []);
});

test('a write in backoff does not block independent writes, and an optional one blocks none', async () => {
  const refusals = createRefusals(virtualClock());
  const actions = [
    asIndependent(patch(makePod('a'), {})),
    asOptional(patch(makePod('b'), {})),
    patch(makeConfigMap('c'), {}),
  ];
  const run = () => executeActions(actions, deny('a', 'b'), cacheOf(), refusals);
  assert.deepEqual((await run()).asked, ['PATCH a', 'PATCH b', 'PATCH c']);
  const { asked, outcome } = await run();
  assert.deepEqual(asked, ['PATCH c']);
  assert.deepEqual(
    outcome.failures.map(({ action }) => action),
    [actions[0]],
  );
});

test('a sequence is not started while a later patch in it is in backoff', async () => {
  const refusals = createRefusals(virtualClock());
  const closeGate = { ...patch(makePod('a'), {}), subresource: 'status' };
  const actions = [closeGate, patch(makePod('a'), {})];
  const run = () => executeActions(sequence(actions), deny('a'), cacheOf(), refusals);
  assert.deepEqual((await run()).asked, ['PATCH status', 'PATCH a']);
  const { asked, outcome } = await run();
  assert.deepEqual(asked, []);
  assert.deepEqual(
    outcome.failures.map(({ action, isInBackoff }) => [action, isInBackoff]),
    [[actions[1], true]],
  );
});

test('an event is recorded for every attempt, but not during the backoff', async () => {
  const refusals = createRefusals(virtualClock());
  const failed = { reason: 'FailedCreate', message: 'Error creating: {error}' };
  const actions = [withOutcomeEvents(create(makePod('a')), { about: makeConfigMap('owner'), failed })];
  assert.equal((await executeActions(actions, deny('a'), cacheOf(), refusals)).events.length, 1);
  assert.equal((await executeActions(actions, deny('a'), cacheOf(), refusals)).events.length, 0);
});

const closing = (name: string, id = 'revision 2') => {
  const failed = { reason: 'FailedUpdate', message: '{error}' };
  const gate = withOutcomeEvents(patch(makePod(name), { status: {} }), { about: makeConfigMap('owner'), failed });
  return [
    afterDryRun({ ...gate, subresource: 'status' }, { id, writes: [patch(makePod(name), { spec: {} })] }),
    { ...patch(makePod(name), { spec: {} }), refusalId: `update of ${name}` },
  ];
};

test('nothing is written before the server has accepted the dry run', async () => {
  const { asked, outcome } = await executeActions(sequence(closing('a')));
  assert.deepEqual(asked, ['dry PATCH a', 'PATCH status', 'PATCH a']);
  assert.deepEqual(outcome.failures, []);
});

test('a rejected dry run blocks all actions that share it and is recorded once', async () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  const run = (name: string) => executeActions(sequence(closing(name)), deny('a', 'b'), cacheOf(), refusals);
  const first = await run('a');
  assert.deepEqual([first.asked, first.events.length, first.outcome.failures.length], [['dry PATCH a'], 1, 1]);
  const other = await run('b');
  assert.deepEqual([other.asked, other.events.length, other.outcome.failures.length], [[], 0, 1]);
  clock.advance(1000);
  const again = await run('b');
  assert.deepEqual([again.asked, again.events.length], [['dry PATCH b'], 0]);
  assert.equal(refusals.inBackoff('default/owner', 'revision 2')?.retryInMs, 2000);
});

test('an action without its own dry run waits for the dry run of another action', async () => {
  const [gate, write] = closing('b');
  const waiting = [afterDryRun(gate!, { id: 'revision 2', writes: [] }), write!];
  const steps = parallel([...sequence(closing('a')), ...sequence(waiting)]);
  const refused = await executeActions(steps, deny('a'));
  assert.deepEqual(refused.asked, ['dry PATCH a']);
  const accepted = await executeActions(steps);
  assert.deepEqual(accepted.asked.at(0), 'dry PATCH a');
  assert.equal(accepted.asked.join().match(/dry/g)?.length, 1);
  assert.deepEqual(accepted.outcome.failures, []);
});

test('an inconclusive dry run blocks no action', async () => {
  const { asked } = await executeActions(sequence(closing('a')), ({ query, body }) => {
    if (query?.['dryRun']) throw badRequest('admission webhook "x" does not support dry run');
    return body;
  });
  assert.deepEqual(asked, ['dry PATCH a', 'PATCH status', 'PATCH a']);
});

test('the backoff of a write that is rejected after an accepted dry run grows each time', async () => {
  const clock = virtualClock();
  const refusals = createRefusals(clock);
  const deceive: Answers = ({ query, path, body }) => {
    if (!query?.['dryRun'] && path.endsWith('/a')) throw forbidden(pods, 'a', 'no');
    return body;
  };
  const delays = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    const { asked } = await executeActions(sequence(closing('a')), deceive, cacheOf(), refusals);
    assert.deepEqual(asked, ['dry PATCH a', 'PATCH status', 'PATCH a']);
    const { retryInMs = 0 } = refusals.inBackoff('default/owner', 'update of a') ?? {};
    delays.push(retryInMs);
    clock.advance(retryInMs);
  }
  assert.deepEqual(delays, [1000, 2000, 4000, 8000]);
});
