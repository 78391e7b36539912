import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { flattenSteps } from '@kruise/client/actions';
import { decide } from './decide.ts';
import { now, podOf, revisionOf, setOf, settings, side } from './fixtures.ts';

const ofImage = (tag: number, spec: SidecarSet['spec'] = {}) =>
  setOf({ ...spec, containers: [side({ image: `side:v${tag}` })] });
const nameOf = ({ metadata }: ControllerRevision) => metadata.name ?? '';

/** Formats the actions on the history: `create 3`, `renumber 1 to 3`, `label two`, `remove 1`. */
function stepsOf(sidecarSet: SidecarSet, revisions: readonly ControllerRevision[], pods: readonly Pod[] = []) {
  const findRevision = (name: string) => revisions.find((each) => nameOf(each) === name);
  const { actions } = decide({ sidecarSet, pods, revisions, findRevision }, settings, now);
  return flattenSteps(actions).map((action) => {
    assert.ok('object' in action);
    const { object } = action;
    const present = revisions.find((each) => nameOf(each) === object.metadata.name);
    if (action.type === 'create') return `create ${(object as unknown as ControllerRevision).revision}`;
    if (action.type === 'remove') return `remove ${present?.revision}`;
    assert.ok(action.type === 'patch');
    const { revision, metadata } = action.patch as { revision?: number; metadata?: { labels: object } };
    const label = metadata ? [`label ${Object.values(metadata.labels)}`] : [];
    return [...(revision === undefined ? [] : [`renumber ${present?.revision} to ${revision}`]), ...label].join(', ');
  });
}
const history = (...tags: number[]) => tags.map((tag, index) => revisionOf(ofImage(tag), index + 1));

const cases: {
  name: string;
  set: SidecarSet;
  revisions?: readonly ControllerRevision[];
  pods?: readonly Pod[];
  steps: readonly string[];
}[] = [
  { name: 'the first spec is revision 1', set: ofImage(1), steps: ['create 1'] },
  { name: 'a new spec is the next revision', set: ofImage(2), revisions: history(1), steps: ['create 2'] },
  { name: 'an unchanged spec keeps its revision', set: ofImage(2), revisions: history(1, 2), steps: [] },
  {
    name: 'a rollback makes the revision the newest',
    set: ofImage(1),
    revisions: history(1, 2),
    steps: ['renumber 1 to 3'],
  },
  {
    name: 'a custom version that is set later becomes a label of the revision',
    set: ofImage(1, { customVersion: 'one' }),
    revisions: history(1),
    steps: ['label one'],
  },
  {
    name: 'a rollback may have another custom version',
    set: ofImage(1, { customVersion: 'three' }),
    revisions: history(1, 2),
    steps: ['renumber 1 to 3, label three'],
  },
  {
    name: 'the oldest revisions beyond the limit are pruned',
    set: ofImage(4, { revisionHistoryLimit: 2 }),
    revisions: history(1, 2, 3, 4),
    steps: ['remove 1', 'remove 2'],
  },
  {
    name: 'the revision to create counts towards the limit',
    set: ofImage(4, { revisionHistoryLimit: 2 }),
    revisions: history(1, 2, 3),
    steps: ['create 4', 'remove 1', 'remove 2'],
  },
  {
    name: 'the current revision always stays',
    set: ofImage(2, { revisionHistoryLimit: 0 }),
    revisions: history(1, 2),
    steps: ['remove 1'],
  },
  {
    name: 'a reused revision counts as the newest',
    set: ofImage(1, { revisionHistoryLimit: 2 }),
    revisions: history(1, 2, 3),
    steps: ['renumber 1 to 4', 'remove 2'],
  },
  {
    name: 'a revision that a Pod uses stays',
    set: ofImage(3, { revisionHistoryLimit: 1 }),
    revisions: history(1, 2, 3),
    pods: [podOf('a', { revision: nameOf(revisionOf(ofImage(1), 1)) })],
    steps: ['remove 2'],
  },
  {
    name: 'a revision that new Pods get by name stays',
    set: ofImage(3, {
      revisionHistoryLimit: 1,
      injectionStrategy: { revision: { revisionName: nameOf(revisionOf(ofImage(2), 2)) } },
    }),
    revisions: history(1, 2, 3),
    steps: ['remove 1'],
  },
  {
    name: 'the newest revision of the version that new Pods get stays',
    set: ofImage(4, { revisionHistoryLimit: 1, injectionStrategy: { revision: { customVersion: 'one' } } }),
    revisions: [1, 2, 3, 4].map((tag) => revisionOf(ofImage(tag, tag < 3 ? { customVersion: 'one' } : {}), tag)),
    steps: ['remove 1', 'remove 3'],
  },
];
for (const { name, set, revisions = [], pods = [], steps } of cases) {
  test(name, () => {
    assert.deepEqual(stepsOf(set, revisions, pods), steps);
  });
}

test('ten revisions are kept by default', () => {
  const { revisionHistoryLimit: _, ...spec } = ofImage(12).spec;
  const revisions = history(...Array.from({ length: 12 }, (_, index) => index + 1));
  assert.deepEqual(stepsOf({ ...ofImage(12), spec }, revisions), ['remove 1', 'remove 2']);
});

test('a revision holds the sidecars and their source', () => {
  const set = setOf({ customVersion: 'one' }, { labels: { team: 'mesh' } });
  const { metadata, data, revision } = revisionOf(set, 1);
  assert.equal(revision, 1);
  assert.equal(metadata.namespace, 'kruise-system');
  assert.match(metadata.name ?? '', /^set-[a-z0-9]+$/);
  assert.deepEqual(metadata.labels, {
    team: 'mesh',
    'apps.kruise.io/sidecarset-custom-version': 'one',
    'kruise.io/sidecarset-name': 'set',
    'controller.kubernetes.io/hash': metadata.name?.slice('set-'.length),
  });
  assert.deepEqual(metadata.annotations, set.metadata.annotations);
  assert.deepEqual(metadata.ownerReferences, [
    {
      apiVersion: 'apps.kruise.io/v1beta1',
      kind: 'SidecarSet',
      name: 'set',
      uid: 'set-uid',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  assert.deepEqual(Object.keys((data as { spec: object }).spec), [
    '$patch',
    'containers',
    'imagePullSecrets',
    'initContainers',
    'patchPodMetadata',
    'volumes',
  ]);
});

test('a name collision increments collisionCount', () => {
  const set = ofImage(1);
  const taken = { ...revisionOf(set, 1), data: { spec: null } };
  const findRevision = (name: string) => (name === nameOf(taken) ? taken : undefined);
  const { actions, status } = decide({ sidecarSet: set, pods: [], revisions: [], findRevision }, settings, now);
  assert.equal((status as { collisionCount?: number }).collisionCount, 1);
  assert.equal(actions.length, 1);
});
