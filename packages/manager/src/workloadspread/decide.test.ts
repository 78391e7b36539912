import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadStatus } from '@kruise/api/kruise/workloadspread';
import { type Action, flattenSteps } from '@kruise/client/actions';
import { deletionCostAnnotation } from '@kruise/machinery/pod-ranking';
import fc from 'fast-check';
import { carryOut, type Objects, objectsOf, put } from '../testing/world.ts';
import { decide } from './decide.ts';
import { ago, nodeOf, now, observedOf, type PodOptions, podOf, spreadOf, subsetsOf, type World } from './fixtures.ts';
import { placementOf } from './placement.ts';

/** Formats actions: `cost x 100, assign x to a, delete x`. */
function inWords(actions: readonly Action[]): readonly string[] {
  return actions.flatMap((action) => {
    if (action.type === 'remove') return [`delete ${action.object.metadata.name}`];
    assert.equal(action.type, 'patch');
    const { name } = action.object.metadata;
    // Only the metadata of Pods is patched.
    const changed = (action.patch as Pod).metadata;
    const cost = changed.annotations?.[deletionCostAnnotation];
    const placement = placementOf({ ...(action.object as Pod), metadata: changed });
    return [
      ...(placement ? [`assign ${name} to ${placement.subset}`] : []),
      ...(cost === undefined ? [] : [`cost ${name} ${cost}`]),
    ];
  });
}

const pods = (names: string, options: PodOptions) => names.split(' ').map((name) => podOf(name, options));

/** Returns the formatted actions on Pods. */
function done(spread: WorkloadSpread, present: readonly Pod[], world: World = {}): readonly string[] {
  return inWords(flattenSteps(decide(observedOf(spread, present, world), now).actions));
}

const costs: { is: string; spread?: WorkloadSpread; pods: readonly Pod[]; world?: World; done: readonly string[] }[] = [
  {
    is: 'increases for earlier subsets',
    spread: spreadOf({ subsets: subsetsOf('a 10', 'b 10', 'c') }),
    pods: [podOf('x', { in: 'a' }), podOf('y', { in: 'b' }), podOf('z', { in: 'c' })],
    done: ['cost x 300', 'cost y 200', 'cost z 100'],
  },
  {
    is: 'is negative for excess Pods, and lower in a later subset',
    spread: spreadOf({ subsets: subsetsOf('a 1', 'b 1', 'c') }),
    pods: [...pods('x1 x2', { in: 'a' }), ...pods('y1 y2', { in: 'b' }), podOf('z', { in: 'c' })],
    done: ['cost x1 -100', 'cost x2 300', 'cost y1 -200', 'cost y2 200', 'cost z 100'],
  },
  {
    is: 'is lowest without a subset',
    pods: [podOf('x', { in: 'gone' }), podOf('y', { node: '' })],
    done: ['cost x -300', 'cost y -300'],
  },
  {
    is: 'replaces other values',
    pods: [podOf('x', { in: 'b', cost: 1 })],
    done: ['cost x 100'],
  },
  { is: 'is not written again', pods: [podOf('x', { in: 'a', cost: 200 })], done: [] },
  {
    is: 'is negative for unhealthy excess Pods',
    pods: [podOf('x', { in: 'a' }), podOf('y', { in: 'a', isReady: false }), podOf('z', { in: 'a', phase: 'Pending' })],
    spread: spreadOf({ subsets: subsetsOf('a 1', 'b') }),
    done: ['cost x 200', 'cost y -100', 'cost z -100'],
  },
  {
    is: 'is not set on terminating or finished Pods',
    pods: [
      podOf('x', { in: 'a', isDeleted: true }),
      podOf('y', { in: 'a', phase: 'Failed' }),
      podOf('z', { in: 'a', phase: 'Succeeded' }),
    ],
    done: [],
  },
  {
    is: 'is reversed for old versions',
    spread: spreadOf({ kind: 'Deployment' }),
    pods: ['new', 'old'].flatMap((version) =>
      ['a', 'b'].map((name) => podOf(`${version}-${name}`, { in: name, version })),
    ),
    world: { latestVersion: 'new' },
    done: ['cost new-a 200', 'cost new-b 100', 'cost old-a 100', 'cost old-b 200'],
  },
  {
    is: 'is not set while the latest version is unknown',
    spread: spreadOf({ kind: 'Deployment' }),
    pods: [podOf('x', { in: 'a', version: 'old' })],
    world: { latestVersion: undefined },
    done: [],
  },
  ...['StatefulSet', 'Job', 'Fleet'].map((kind) => ({
    is: `is not set for a ${kind}`,
    spread: spreadOf({ kind }),
    pods: [podOf('x', { in: 'a' })],
    done: [],
  })),
  {
    is: 'respects percentage limits',
    spread: spreadOf({ subsets: subsetsOf('a 40%', 'b') }),
    pods: pods('x y z', { in: 'a' }),
    done: ['cost x -100', 'cost y 200', 'cost z 200'],
  },
];
for (const { is, spread = spreadOf(), pods: present, world, done: expected } of costs) {
  test(`the deletion cost ${is}`, () => {
    assert.deepEqual(done(spread, present, world), expected);
  });
}

const zone = (name: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: [name] }] });
const zoned = (name: string, limit = '') => {
  const [subset] = subsetsOf(`${name} ${limit}`.trim());
  return { ...subset!, requiredNodeSelector: zone(name) };
};
const tier = { metadata: { labels: { tier: 'cheap' }, annotations: { note: 'x' } } };

const adoptions: {
  is: string;
  spread: WorkloadSpread;
  pods?: readonly Pod[];
  node?: Node;
  done: readonly string[];
}[] = [
  {
    is: 'the subset of its node',
    spread: spreadOf({ subsets: [zoned('a'), zoned('b')] }),
    node: nodeOf({ zone: 'b' }),
    done: ['assign x to b'],
  },
  { is: 'the first of several subsets', spread: spreadOf({ subsets: subsetsOf('a', 'b') }), done: ['assign x to a'] },
  {
    is: 'the subset with capacity left',
    spread: spreadOf({ subsets: subsetsOf('a 1', 'b') }),
    pods: [podOf('y', { in: 'a' }), podOf('x')],
    done: ['assign x to b'],
  },
  {
    is: 'one subset after the other while capacity lasts',
    spread: spreadOf({ subsets: subsetsOf('a 1', 'b') }),
    pods: pods('x y', {}),
    done: ['assign x to a', 'assign y to b'],
  },
  {
    is: 'the subset whose patch it matches',
    spread: spreadOf({ subsets: [{ name: 'a' }, { name: 'b', patch: tier }] }),
    pods: [podOf('x', { labels: { tier: 'cheap' } })],
    done: ['assign x to b'],
  },
  {
    is: 'the subset that prefers its node',
    spread: spreadOf({
      subsets: [
        { name: 'a', patch: tier },
        { name: 'b', preferredNodeSelector: [{ weight: 1, preference: zone('b') }] },
      ],
    }),
    pods: [podOf('x', { labels: { tier: 'cheap' } })],
    node: nodeOf({ zone: 'b' }),
    done: ['assign x to b'],
  },
  {
    is: 'no subset on another node',
    spread: spreadOf({ subsets: [zoned('a')] }),
    node: nodeOf({ zone: 'b' }),
    done: [],
  },
  { is: 'no subset on a node it does not tolerate', spread: spreadOf(), node: nodeOf({}, ['spot']), done: [] },
  { is: 'no subset before it has a node', spread: spreadOf(), pods: [podOf('x', { node: '' })], done: [] },
  { is: 'no subset on an unknown node', spread: spreadOf(), pods: [podOf('x', { node: 'other' })], done: [] },
  {
    is: 'no subset if its own was removed',
    spread: spreadOf({ subsets: subsetsOf('a') }),
    pods: [podOf('x', { in: 'gone' })],
    done: [],
  },
];
for (const { is, spread, pods: present = [podOf('x')], node = nodeOf(), done: expected } of adoptions) {
  test(`a Pod without a subset is assigned to ${is}`, () => {
    // Workloads that ignore deletion costs show the other actions.
    const unheeding = { ...spread, spec: { ...spread.spec, targetRef: { ...spread.spec.targetRef, kind: 'Job' } } };
    assert.deepEqual(done(unheeding, present, { node }), expected);
  });
}

test("an assigned Pod gets the metadata of the subset's patch, unless an annotation disables it", () => {
  const patchFor = (annotations = {}) => {
    const spread = spreadOf({
      kind: 'Job',
      subsets: [{ name: 'a', patch: { ...tier, spec: { containers: [] } } }],
      annotations,
    });
    const [action] = decide(observedOf(spread, [podOf('x')]), now).actions;
    assert.ok(action?.type === 'patch' && action.patchType === 'strategic');
    return action.patch;
  };
  const placement = { 'apps.kruise.io/matched-workloadspread': '{"name":"ws","subset":"a"}' };
  assert.deepEqual(patchFor(), {
    metadata: { labels: { tier: 'cheap' }, annotations: { note: 'x', ...placement } },
  });
  const ignored = { 'workloadspread.kruise.io/ignore-patch-existing-pods-metadata': 'True' };
  assert.deepEqual(patchFor(ignored), { metadata: { annotations: placement } });
});

test('a Pod of another WorkloadSpread is taken over', () => {
  const other = podOf('x', { in: 'a' });
  const annotations = { 'apps.kruise.io/matched-workloadspread': '{"name":"other","subset":"b"}' };
  const taken = { ...other, metadata: { ...other.metadata, annotations } };
  assert.deepEqual(done(spreadOf({ kind: 'Job' }), [taken]), ['assign x to a']);
});

const stuck = (name: string, ageSeconds: number) => podOf(name, { in: 'a', isStuck: true, ageSeconds });
const withRoom = (status: 'True' | 'False'): WorkloadSpreadStatus => {
  const reason = status === 'True' ? 'Sufficient' : 'PodUnschedulable';
  const conditions = [{ type: 'Schedulable', status, reason, message: '', lastTransitionTime: ago(60) }];
  const list = [{ name: 'a', replicas: 1, missingReplicas: 0, conditions }];
  return { subsetStatuses: list, versionedSubsetStatuses: { versionIgnored: list } };
};

const removals: { when: string; spread: WorkloadSpread; pods?: readonly Pod[]; done: readonly string[] }[] = [
  {
    when: 'its subset is unschedulable',
    spread: spreadOf({ patience: 5, status: withRoom('False') }),
    done: ['delete x'],
  },
  {
    when: 'webhooks may still place Pods there',
    spread: spreadOf({ patience: 5, status: withRoom('True') }),
    done: [],
  },
  { when: 'the status has not been written yet', spread: spreadOf({ patience: 5 }), done: [] },
  {
    when: 'the timeout is not exceeded',
    spread: spreadOf({ patience: 5, status: withRoom('False') }),
    pods: [stuck('x', 5)],
    done: [],
  },
  { when: 'rescheduling is disabled', spread: spreadOf({ status: withRoom('False') }), done: [] },
  {
    when: 'there is no subset after its own',
    spread: spreadOf({ subsets: subsetsOf('a'), patience: 5, status: withRoom('False') }),
    done: [],
  },
];
for (const { when, spread, pods: present = [stuck('x', 6)], done: expected } of removals) {
  test(`an unschedulable Pod is ${expected.length > 0 ? 'deleted' : 'left alone'} when ${when}`, () => {
    const actions = done(spread, present).filter((each) => !each.startsWith('cost'));
    assert.deepEqual(actions, expected);
  });
}

test('without a workload only capacity is reported', () => {
  const { actions, status } = decide({ spread: spreadOf(), target: undefined, findNode: () => undefined }, now);
  assert.deepEqual(actions, []);
  assert.deepEqual(status, {
    observedGeneration: 3,
    subsetStatuses: [
      { name: 'a', replicas: 0, missingReplicas: 2 },
      { name: 'b', replicas: 0, missingReplicas: -1 },
    ],
  });
});

const anyPod = fc.record({
  subset: fc.constantFrom('', 'a', 'b', 'gone'),
  version: fc.constantFrom('old', 'new'),
  phase: fc.constantFrom('Running', 'Pending', 'Failed'),
  isReady: fc.boolean(),
  isStuck: fc.boolean(),
  isDeleted: fc.boolean(),
  ageSeconds: fc.integer({ min: 0, max: 20 }),
  cost: fc.constantFrom('', '100', '-300'),
});
const anyWorld = fc.record({
  limit: fc.constantFrom('a', 'a 0', 'a 1', 'a 3', 'a 50%'),
  pods: fc.array(anyPod, { maxLength: 12 }),
  patience: fc.constantFrom(undefined, 5),
});

test('applied decisions converge', () => {
  fc.assert(
    fc.property(anyWorld, ({ limit, pods: drawn, patience }) => {
      let spread = spreadOf({ kind: 'Deployment', subsets: subsetsOf(limit, 'b'), ...(patience ? { patience } : {}) });
      const objects: Objects = new Map();
      for (const [index, { subset, cost, ...options }] of drawn.entries()) {
        put(objects, podOf(`p${index}`, { ...options, in: subset, ...(cost ? { cost } : {}) }));
      }
      const look = () =>
        decide(observedOf(spread, objectsOf<Pod>(objects, 'Pod'), { latestVersion: 'new', replicas: 6 }), now);
      // Pods are deleted only after the status reports their subset as unschedulable; the remaining Pods may then have
      // a higher cost.
      for (let pass = 0; pass < 3; pass++) {
        const { actions, status } = look();
        carryOut(objects, actions, now);
        spread = { ...spread, status: status as WorkloadSpreadStatus };
      }
      const { status: counted } = look();
      spread = { ...spread, status: counted as WorkloadSpreadStatus };
      const { actions, status, events } = look();
      assert.deepEqual([actions, events, status], [[], [], spread.status]);
    }),
  );
});
