import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  ContainerRecreateRequest,
  ContainerRecreateRequestSpec,
  ContainerRecreateRequestStatus,
} from '@kruise/api/kruise/containerrecreaterequest';
import type { EffectAction } from '@kruise/client/actions';
import { formatTime, instantOf } from '@kruise/values/time';
import { decide, type Observed, type Stop } from './decide.ts';
import { afterStop, type Found } from './states.ts';

const now = instantOf(2026, 1, 1, 12);

type Strategy = ContainerRecreateRequestSpec['strategy'];
type States = ContainerRecreateRequestStatus['containerRecreateStates'];

function requestOf(
  status?: Partial<ContainerRecreateRequestStatus>,
  strategy: Strategy = {},
  name = 'restart',
): ContainerRecreateRequest {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ContainerRecreateRequest',
    metadata: { name, namespace: 'default', creationTimestamp: formatTime(now - 60_000) },
    spec: {
      podName: 'app',
      strategy,
      containers: ['a', 'b'].map((each) => ({
        name: each,
        statusContext: { containerID: `sim://old-${each}`, restartCount: 0 },
      })),
    },
    ...(status ? { status: { phase: 'Recreating', ...status } } : {}),
  };
}

const old = (name: string): Found => ({
  id: `old-${name}`,
  podSandboxId: 's',
  isExited: false,
  startedAt: now - 90_000,
  restartCount: 0,
});
const fresh = (name: string, seconds = 10): Found => ({
  ...old(name),
  id: `new-${name}`,
  startedAt: now - seconds * 1000,
  restartCount: 1,
});
const exited = (name: string): Found => ({ ...old(name), isExited: true });
const seen = (...names: readonly string[]) =>
  names.map((name) => ({ name, ready: true, restartCount: 1, containerID: `sim://new-${name}` }));
const pending = (name: string) => ({ name, phase: 'Pending' as const });
const recreating = (name: string) => ({ name, phase: 'Recreating' as const, isKilled: true });
const succeeded = (name: string) => ({ name, phase: 'Succeeded' as const, isKilled: true });

function decided(
  request: ContainerRecreateRequest,
  found: readonly [string, Found][] = [],
  more: Partial<Observed> = {},
) {
  const observed: Observed = {
    request,
    podRequests: [request],
    runtime: { name: 'sim' },
    found: new Map(found),
    ...more,
  };
  const { actions, status, requeueAfterSeconds } = decide(observed, now);
  const result = status as ContainerRecreateRequestStatus | undefined;
  const stops = actions.map((action) => ((action as EffectAction).input as Stop).container);
  return {
    stops,
    phase: result?.phase,
    states: result?.containerRecreateStates,
    message: result?.message,
    requeueAfterSeconds,
  };
}

const both = (of: (name: string) => Found): [string, Found][] => ['a', 'b'].map((name) => [name, of(name)]);

const walks: readonly {
  readonly is: string;
  readonly before: States;
  readonly found: readonly [string, Found][];
  readonly strategy?: Strategy;
  readonly snapshot?: ReturnType<typeof seen>;
  readonly stops?: readonly string[];
  readonly after: States;
  readonly phase?: string;
}[] = [
  { is: 'notes how far its containers are', before: [], found: both(old), after: [pending('a'), pending('b')] },
  {
    is: 'stops the first',
    before: [pending('a'), pending('b')],
    found: both(old),
    stops: ['a'],
    after: [recreating('a'), pending('b')],
  },
  {
    is: 'stops the second without waiting for the first',
    before: [recreating('a'), pending('b')],
    found: [
      ['a', exited('a')],
      ['b', old('b')],
    ],
    stops: ['b'],
    after: [recreating('a'), recreating('b')],
  },
  {
    is: 'waits for the first where they go in order',
    before: [recreating('a'), pending('b')],
    found: [
      ['a', fresh('a')],
      ['b', old('b')],
    ],
    strategy: { orderedRecreate: true },
    after: [recreating('a'), pending('b')],
  },
  {
    is: 'takes a container for recreated when the Pod status reports it as ready',
    before: [recreating('a'), pending('b')],
    found: [
      ['a', fresh('a')],
      ['b', old('b')],
    ],
    snapshot: seen('a'),
    after: [succeeded('a'), pending('b')],
  },
  {
    is: 'waits until a container has lasted',
    before: [recreating('a'), recreating('b')],
    found: both((name) => fresh(name, 5)),
    snapshot: seen('a', 'b'),
    strategy: { minStartedSeconds: 5 },
    after: [recreating('a'), recreating('b')],
  },
  {
    is: 'skips a container that has restarted by itself',
    before: [{ name: 'a', phase: 'Recreating' }, recreating('b')],
    found: both(fresh),
    after: [recreating('a'), recreating('b')],
  },
  {
    is: 'stops such a container with forceRecreate',
    before: [pending('a'), pending('b')],
    found: both(fresh),
    strategy: { forceRecreate: true },
    stops: ['a'],
    after: [recreating('a'), pending('b')],
  },
  {
    is: 'is over when all are done',
    before: [succeeded('a'), succeeded('b')],
    found: both(fresh),
    after: [succeeded('a'), succeeded('b')],
    phase: 'Completed',
  },
  {
    is: 'is over with the first that fails',
    before: [{ name: 'a', phase: 'Failed' }, pending('b')],
    found: both(old),
    after: [{ name: 'a', phase: 'Failed' }, pending('b')],
    phase: 'Completed',
  },
  {
    is: 'continues after a failed container with the failure policy Ignore',
    before: [{ name: 'a', phase: 'Failed' }, pending('b')],
    found: both(old),
    strategy: { failurePolicy: 'Ignore' },
    stops: ['b'],
    after: [{ name: 'a', phase: 'Failed' }, recreating('b')],
  },
  {
    is: 'waits for a container that is not there',
    before: [{ ...pending('a'), message: 'not found container on Node' }, pending('b')],
    found: [['b', old('b')]],
    after: [{ ...pending('a'), message: 'not found container on Node' }, pending('b')],
  },
];
for (const { is, before, found, strategy, snapshot, stops = [], after, phase = 'Recreating' } of walks) {
  test(`a request ${is}`, () => {
    const status = {
      containerRecreateStates: before ?? [],
      ...(snapshot ? { containerStatusSnapshot: snapshot } : {}),
    };
    const result = decided(requestOf(status, strategy), found);
    const [stopped] = result.stops;
    const states = stopped === undefined ? result.states : afterStop(before ?? [], stopped);
    assert.deepEqual([result.stops, states], [stops, after]);
    assert.equal(result.phase ?? 'Recreating', phase);
  });
}

test('a container that cannot be stopped has failed', () => {
  const [state] = afterStop([pending('a'), pending('b')], 'a', new Error('no'));
  assert.deepEqual(state, { name: 'a', phase: 'Failed', message: 'kill container error: no' });
});

test('a request waits as Pending until it is the active one', () => {
  assert.equal(decided(requestOf()).phase, 'Recreating');
  const other = requestOf({}, {}, 'other');
  const waiting = requestOf();
  assert.equal(decided(waiting, [], { podRequests: [waiting, other] }).phase, 'Pending');
  const queued = requestOf({ phase: 'Pending' });
  assert.equal(decided(queued, [], { podRequests: [queued, other] }).phase, undefined);
  const done = requestOf({ phase: 'Completed', completionTime: formatTime(now) }, {}, 'done');
  assert.equal(decided(queued, [], { podRequests: [queued, done] }).phase, 'Recreating');
});

test('no container is stopped before the unready grace period has passed', () => {
  const acquired = (secondsAgo: number) => ({
    containerRecreateStates: [pending('a'), pending('b')],
    conditions: [
      {
        type: 'PreRecreateGrace',
        status: 'True' as const,
        reason: 'x',
        message: '',
        lastTransitionTime: formatTime(now - secondsAgo * 1000),
      },
    ],
  });
  const strategy = { unreadyGracePeriodSeconds: 3 };
  assert.deepEqual(
    decided(requestOf({ containerRecreateStates: [pending('a'), pending('b')] }, strategy), both(old)).stops,
    [],
  );
  assert.equal(decided(requestOf(acquired(1), strategy), both(old)).requeueAfterSeconds, 2);
  assert.deepEqual(decided(requestOf(acquired(3), strategy), both(old)).stops, ['a']);
});

test('a request for containers of an unknown runtime completes', () => {
  const { phase, message } = decided(requestOf({}), [], { runtime: { fault: 'no runtime "docker"' } });
  assert.deepEqual([phase, message], ['Completed', 'failed to find runtime service: no runtime "docker"']);
});
