import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import fc from 'fast-check';
import { decide } from './decide.ts';

const now = Date.UTC(2026, 0, 1);
const inSeconds = (seconds: number) => now + seconds * 1000;

/** Parses tolerations as `key=seconds`, or `key` without a limit. */
function pod(tolerations: string, metadata: Pod['metadata'] = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    spec: {
      containers: [],
      tolerations: tolerations
        .split(' ')
        .filter(Boolean)
        .map((text) => {
          const [key = '', seconds] = text.split('=');
          return { key, operator: 'Exists', ...(seconds === undefined ? {} : { tolerationSeconds: Number(seconds) }) };
        }),
    },
  };
}
const taints = (keys: string): readonly Taint[] =>
  keys
    .split(' ')
    .filter(Boolean)
    .map((key) => ({ key, effect: 'NoExecute' }));

const cases: readonly {
  name: string;
  tolerations?: string;
  taints: string;
  evictAt?: number;
  evicts: number | undefined;
  does?: string;
}[] = [
  { name: 'a Pod without taints stays', taints: '', evicts: undefined },
  {
    name: 'a Pod that does not tolerate a taint is evicted at once',
    taints: 'a',
    evicts: 0,
    does: 'Marking for deletion',
  },
  {
    name: 'a Pod that does not tolerate one of two taints is evicted at once',
    tolerations: 'a',
    taints: 'a b',
    evicts: 0,
    does: 'Marking for deletion',
  },
  { name: 'a Pod that tolerates a taint without a limit stays', tolerations: 'a', taints: 'a', evicts: undefined },
  {
    name: 'a Pod that tolerates a taint for a limited time is evicted after it',
    tolerations: 'a=300',
    taints: 'a',
    evicts: 300,
  },
  { name: 'the shorter of two times counts', tolerations: 'a=300 b=20', taints: 'a b', evicts: 20 },
  { name: 'a limited time counts beside an unlimited one', tolerations: 'a b=20', taints: 'a b', evicts: 20 },
  { name: 'a time of 0 means at once', tolerations: 'a=0', taints: 'a', evicts: 0, does: 'Marking for deletion' },
  { name: 'a negative time means at once', tolerations: 'a=-7', taints: 'a', evicts: 0, does: 'Marking for deletion' },
  { name: 'the first of two tolerations for one taint counts', tolerations: 'a=300 a=20', taints: 'a', evicts: 300 },
  { name: 'the first eviction time is kept', tolerations: 'a=300', taints: 'a', evictAt: 100, evicts: 100 },
  {
    name: 'a further taint does not shorten the time',
    tolerations: 'a=300 b=20',
    taints: 'a b',
    evictAt: 100,
    evicts: 100,
  },
  {
    name: 'a further taint that is not tolerated evicts at once',
    tolerations: 'a=300',
    taints: 'a b',
    evictAt: 100,
    evicts: 0,
    does: 'Marking for deletion',
  },
  {
    name: 'a Pod whose time has passed is evicted',
    tolerations: 'a=300',
    taints: 'a',
    evictAt: 0,
    evicts: 0,
    does: 'Marking for deletion',
  },
  {
    name: 'a Pod stays when the taints are removed',
    tolerations: 'a=300',
    taints: '',
    evictAt: 100,
    evicts: undefined,
    does: 'Cancelling deletion of',
  },
  {
    name: 'a Pod that tolerates the taints without a limit by now stays',
    tolerations: 'a',
    taints: 'a',
    evictAt: 100,
    evicts: undefined,
    does: 'Cancelling deletion of',
  },
];
for (const { name, tolerations = '', taints: keys, evictAt, evicts, does } of cases) {
  test(name, () => {
    const at = evictAt === undefined ? undefined : inSeconds(evictAt);
    const plan = decide({ pod: pod(tolerations), taints: taints(keys), evictAt: at }, now);
    assert.equal(plan.evictAt, evicts === undefined ? undefined : inSeconds(evicts));
    const [first, ...rest] = plan.actions;
    assert.equal(first?.type === 'record' ? first.event.message : undefined, does && `${does} Pod default/web`);
    assert.deepEqual(
      rest.map(({ type }) => type),
      does === 'Marking for deletion' ? ['patch', 'remove'] : [],
    );
  });
}

test('a terminating Pod is ignored', () => {
  const terminating = pod('', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  assert.deepEqual(decide({ pod: terminating, taints: taints('a'), evictAt: undefined }, now).actions, []);
});

test('no Pod is evicted early, and after the requeue delay it is due', () => {
  const seconds = fc.option(fc.integer({ min: -5, max: 600 }), { nil: undefined });
  const tolerations = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c'), seconds), {
    selector: ([key]) => key,
  });
  fc.assert(
    fc.property(tolerations, fc.subarray(['a', 'b', 'c']), (borne, keys) => {
      const text = borne.map(([key, limit]) => (limit === undefined ? key : `${key}=${limit}`)).join(' ');
      const observed = { pod: pod(text), taints: taints(keys.join(' ')), evictAt: undefined };
      const { evictAt, actions } = decide(observed, now);
      const limits = keys.map((key) => {
        const found = borne.find(([each]) => each === key);
        return found ? (found[1] ?? Number.POSITIVE_INFINITY) : 0;
      });
      const shortest = Math.max(0, Math.min(...limits));
      assert.equal(evictAt, Number.isFinite(shortest) ? inSeconds(shortest) : undefined);
      assert.equal(actions.length > 0, shortest === 0);
      if (evictAt === undefined) return;
      if (evictAt > now) assert.deepEqual(decide({ ...observed, evictAt }, evictAt - 1).actions, []);
      assert.ok(decide({ ...observed, evictAt }, evictAt).actions.some(({ type }) => type === 'remove'));
      const going = pod(text, { deletionTimestamp: '2026-01-01T00:00:00Z' });
      assert.deepEqual(decide({ ...observed, pod: going, evictAt }, evictAt), { evictAt: undefined, actions: [] });
    }),
  );
});
