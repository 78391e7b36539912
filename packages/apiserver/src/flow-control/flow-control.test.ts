import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flowSchema } from '@kruise/api/flowcontrol/flowschema';
import {
  type PriorityLevelConfiguration,
  priorityLevelConfiguration,
} from '@kruise/api/flowcontrol/prioritylevelconfiguration';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { RequestContext } from '../context.ts';
import { requestInfo } from '../request-info.ts';
import { startTestServer } from '../testing/test-server.ts';
import { type Admitted, createFlowControl, seatShares, TooManyRequestsError } from './flow-control.ts';

const clock = virtualClock(0);
const eve = { username: 'eve', groups: ['system:authenticated'] };
const admin = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };

function request(user: typeof eve, path = '/api/v1/namespaces/a/pods/b'): RequestContext {
  return {
    info: requestInfo('GET', path, new URLSearchParams()),
    query: new URLSearchParams(),
    user,
    userAgent: '',
    clock,
    random: seededRandom(1),
    signal: new AbortController().signal,
    warnings: new Set(),
    auditAnnotations: new Map(),
  };
}

/** Starts a server on which eve has her own priority level with three seats. */
async function start(limitResponse: object) {
  const server = await startTestServer();
  await server.client.create(priorityLevelConfiguration, {
    metadata: { name: 'narrow' },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, lendablePercent: 0, limitResponse },
    } as never,
  });
  await server.client.create(flowSchema, {
    metadata: { name: 'eve' },
    spec: {
      priorityLevelConfiguration: { name: 'narrow' },
      matchingPrecedence: 50,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'eve' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
        },
      ],
    },
  });
  await server.core.feed.waitForCurrent();
  const refused: string[] = [];
  const allotted = new Map<string, number>();
  const metrics = {
    rejected: (_level: string, _schema: string, why: string) => void refused.push(why),
    waited() {},
    allotted(seats: ReadonlyMap<string, number>) {
      for (const [name, count] of seats) allotted.set(name, count);
    },
  };
  return { server, refused, allotted, flow: createFlowControl(server.core.resources, clock, metrics) };
}

test('a level without queues rejects requests without a seat, and other levels are unaffected', async () => {
  const { server, refused, allotted, flow } = await start({ type: 'Reject' });
  await using _ = server;
  const held = [1, 2, 3].map(() => flow.admit(request(eve)) as Admitted);
  assert.throws(() => flow.admit(request(eve)), TooManyRequestsError);
  assert.deepEqual(refused, ['concurrency-limit']);
  assert.equal(allotted.get('narrow'), held.length);
  assert.ok(!(flow.admit(request(admin)) instanceof Promise));
  held[0]!.leave();
  assert.ok(!(flow.admit(request(eve)) instanceof Promise));
});

test('a level with queues admits the next request on release, and rejects a request that waited too long', async () => {
  const { server, refused, flow } = await start({
    type: 'Queue',
    queuing: { queues: 1, handSize: 1, queueLengthLimit: 2 },
  });
  await using _ = server;
  const held = [1, 2, 3].map(() => flow.admit(request(eve)) as Admitted);
  const [second, third] = [flow.admit(request(eve)), flow.admit(request(eve))];
  assert.throws(() => flow.admit(request(eve)), TooManyRequestsError);
  held[0]!.leave();
  const admitted = await second;
  assert.equal(admitted.levelUid, held[1]!.levelUid);
  await Promise.all([assert.rejects(third as Promise<Admitted>, TooManyRequestsError), clock.advance(15_000)]);
  assert.deepEqual(refused, ['queue-full', 'time-out']);
});

test('a FlowSchema with a missing priority level is skipped', async () => {
  const { server, flow } = await start({ type: 'Reject' });
  await using _ = server;
  const before = (flow.admit(request(eve)) as Admitted).schemaUid;
  await server.client.delete(priorityLevelConfiguration, { name: 'narrow' });
  await server.core.feed.waitForCurrent();
  assert.notEqual((flow.admit(request(eve)) as Admitted).schemaUid, before);
});

test('a long-running request takes no seat', async () => {
  const { server, flow } = await start({ type: 'Reject' });
  await using _ = server;
  for (let count = 0; count < 10; count++) flow.admit(request(eve, '/api/v1/namespaces/a/pods/b/log'));
  assert.ok(!(flow.admit(request(eve)) instanceof Promise));
});

test('seats follow the shares, minus lent and plus borrowed seats', () => {
  const level = (name: string, limited: object) =>
    ({ metadata: { name }, spec: { type: 'Limited', limited } }) as unknown as PriorityLevelConfiguration;
  const shares = seatShares(
    [
      level('a', { nominalConcurrencyShares: 30, lendablePercent: 50, borrowingLimitPercent: 20 }),
      level('b', { nominalConcurrencyShares: 10 }),
    ],
    400,
  );
  assert.deepEqual(shares.get('a'), { nominal: 300, minimum: 150, maximum: 360 });
  assert.deepEqual(shares.get('b'), { nominal: 100, minimum: 100, maximum: 400 });
});
