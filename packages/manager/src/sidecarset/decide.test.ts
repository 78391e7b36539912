import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet, SidecarSetUpdateStrategy } from '@kruise/api/kruise/sidecarset';
import { flattenSteps } from '@kruise/client/actions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { podType } from '../workload/patch-pod.ts';
import { decide } from './decide.ts';
import { now, podOf, revisionOf, setOf, settings, side } from './fixtures.ts';
import { statusOf } from './status.ts';

const image = (tag: string) => side({ image: `side:${tag}` });
const old = setOf({ containers: [image('v1')] });
const hot = (tag: string) => ({
  ...image(tag),
  upgradeStrategy: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'empty:v1' } as const,
});
const hotOld = setOf({ containers: [hot('v1')] });
const hotSet = setOf({ containers: [hot('v2')] });

/** Decides about Pods after the status is written. */
function decisionOn(given: SidecarSet, pods: readonly Pod[]) {
  const revisions = [revisionOf(given, 1)];
  const plan = { update: revisions[0]!, change: 'none', collisionCount: 0 } as const;
  const sidecarSet = { ...given, status: statusOf(given, pods, plan) };
  return decide({ sidecarSet, pods, revisions, findRevision: () => undefined }, settings, now);
}

/** Returns the Pods after all actions. */
function outcomeOf(given: SidecarSet, pods: readonly Pod[]): readonly Pod[] {
  const actions = flattenSteps(decisionOn(given, pods).actions);
  return pods.map((pod) =>
    actions
      .filter((action) => action.type === 'patch' && action.object === pod)
      .reduce((before, action) => {
        assert.ok(action.type === 'patch');
        return applyStrategicMergePatch(
          before as unknown as JsonObject,
          action.patch as JsonObject,
          podType,
        ) as unknown as Pod;
      }, pod),
  );
}
const imagesOf = ({ spec }: Pod) => spec?.containers.map((each) => each.image).join(' ');
const annotationsOf = ({ metadata }: Pod) => metadata.annotations ?? {};
const conditionOf = ({ status }: Pod) => {
  const found = status?.conditions?.find(({ type }) => type === 'SidecarSetUpgradable');
  return found && `${found.status} ${found.reason} ${found.message}`;
};

test('the status is written before Pods are changed', () => {
  const pods = [podOf('a', { of: old })];
  const revisions = [revisionOf(setOf(), 1)];
  const decision = decide({ sidecarSet: setOf(), pods, revisions, findRevision: () => undefined }, settings, now);
  assert.deepEqual(decision.actions, []);
  assert.equal(decision.requeueAfterSeconds, 0);
});

const strategies: { is: string; strategy: SidecarSetUpdateStrategy; images: string }[] = [
  { is: 'rolls', strategy: {}, images: 'app:v1 side:v2' },
  { is: 'only injects', strategy: { type: 'NotUpdate' }, images: 'app:v1 side:v1' },
  { is: 'is paused', strategy: { paused: true }, images: 'app:v1 side:v1' },
];
for (const { is, strategy, images } of strategies) {
  test(`a SidecarSet that ${is} makes its Pod run ${images}`, () => {
    const [after] = outcomeOf(setOf({ updateStrategy: strategy }), [podOf('a', { of: old })]);
    assert.equal(imagesOf(after!), images);
  });
}

test('an update sets the hash, and records the former image IDs', () => {
  const [after] = outcomeOf(setOf({ patchPodMetadata: [{ annotations: { added: 'yes' } }] }), [
    podOf('a', { of: old }),
  ]);
  const annotations = annotationsOf(after!);
  const hash = setOf().metadata.annotations?.['kruise.io/sidecarset-hash'];
  const time = '"updateTimestamp":"2026-01-01T12:00:00Z"';
  assert.equal(annotations['added'], 'yes');
  const { name = '' } = revisionOf(setOf({ patchPodMetadata: [{ annotations: { added: 'yes' } }] }), 1).metadata;
  assert.equal(
    annotations['kruise.io/sidecarset-hash'],
    `{"set":{${time},"hash":"${hash}","sidecarSetName":"set","sidecarList":["side"],"controllerRevision":"${name}"}}`,
  );
  assert.equal(
    annotations['kruise.io/sidecarset-inplace-update-state'],
    `{"set":{"revision":"${hash}",${time},"lastContainerStatuses":{"side":{"imageID":"sha256:side:v1"}}}}`,
  );
  assert.equal(
    annotations['kruise.io/sidecarset-hash-without-image'],
    annotationsOf(podOf('a', { of: old }))['kruise.io/sidecarset-hash-without-image'],
  );
});

test('hashes in an old format are rewritten', () => {
  const bare = old.metadata.annotations?.['kruise.io/sidecarset-hash-without-image'];
  const annotations = {
    'kruise.io/sidecarset-hash': '{"set":"x"}',
    'kruise.io/sidecarset-hash-without-image': JSON.stringify({ set: bare }),
  };
  const [after] = outcomeOf(setOf(), [podOf('a', { of: old, annotations })]);
  const read = (name: string) => JSON.parse(annotationsOf(after!)[name] ?? '').set.hash;
  assert.equal(read('kruise.io/sidecarset-hash'), setOf().metadata.annotations?.['kruise.io/sidecarset-hash']);
  assert.equal(read('kruise.io/sidecarset-hash-without-image'), bare);
});

test('an earlier update keeps its start time', () => {
  const state = { set: { revision: 'r', updateTimestamp: '2025-01-01T00:00:00Z', lastContainerStatuses: {} } };
  const annotations = { 'kruise.io/sidecarset-inplace-update-state': JSON.stringify(state) };
  const [after] = outcomeOf(setOf(), [podOf('a', { of: old, annotations })]);
  assert.match(
    annotationsOf(after!)['kruise.io/sidecarset-inplace-update-state'] ?? '',
    /^\{"set":\{"revision":"r","updateTimestamp":"2025-01-01T00:00:00Z","lastContainerStatuses":\{"side":\{"imageID":/,
  );
});

test('a Pod reports its update, and for each SidecarSet whether it is upgradable', () => {
  const [updated] = outcomeOf(setOf(), [podOf('a', { of: old })]);
  const [reported] = outcomeOf(setOf(), [updated!]);
  assert.equal(conditionOf(reported!), 'True AllSidecarsetUpgradable {"set":true}');
  assert.deepEqual(decisionOn(setOf(), [reported!]).actions, []);

  const changed = setOf({ containers: [{ ...image('v3'), env: [{ name: 'A' }] }] });
  const { events = [] } = decisionOn(changed, [reported!]);
  assert.deepEqual(
    events.map(({ reason, message }) => `${reason}: ${message}`),
    ['NotUpgradablePods: SidecarSet in-place update detected 1 not upgradable pod(s) in this round, will skip them.'],
  );
  const [refused] = outcomeOf(changed, [reported!]);
  assert.equal(imagesOf(refused!), 'app:v1 side:v2');
  assert.equal(conditionOf(refused!), 'False UpdateImmutableField {"set":false}');
});

test('the entries of other SidecarSets are kept', () => {
  const found = podOf('a', { of: setOf({ containers: [{ ...image('v1'), env: [{ name: 'A' }] }] }) });
  const other = { type: 'SidecarSetUpgradable', status: 'True', reason: 'x', message: '{"other":true}' } as const;
  const pod = { ...found, status: { ...found.status, conditions: [...(found.status?.conditions ?? []), other] } };
  assert.equal(conditionOf(outcomeOf(setOf(), [pod])[0]!), 'False UpdateImmutableField {"other":true,"set":false}');
});

const working = 'kruise.io/sidecarset-working-hotupgrade-container';
const versions = (pod: Pod) =>
  ['version', 'versionalt'].flatMap((word) =>
    ['side-1', 'side-2'].map((name) => annotationsOf(pod)[`${word}.sidecarset.kruise.io/${name}`]),
  );
const injectedVersions = {
  'version.sidecarset.kruise.io/side-1': '1',
  'version.sidecarset.kruise.io/side-2': '0',
  'versionalt.sidecarset.kruise.io/side-1': '0',
  'versionalt.sidecarset.kruise.io/side-2': '1',
};
/** Returns the Pod after its containers have started; ready unless containers fail. */
const ran = (pod: Pod, failing: readonly string[] = []): Pod => ({
  ...pod,
  status: {
    ...pod.status,
    conditions: [{ type: 'Ready', status: failing.length > 0 ? 'False' : 'True' }],
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image: asked = '' }) => ({
      name,
      image: asked,
      imageID: `sha256:${asked}`,
      ready: !failing.includes(name),
      restartCount: 0,
      state: {},
      lastState: {},
    })),
  },
});

test('a hot upgrade sets the image of the empty container, then empties the other, and the next upgrade swaps them', () => {
  const before = podOf('a', { of: hotOld, annotations: injectedVersions });
  const [upgraded] = outcomeOf(hotSet, [before]);
  assert.equal(imagesOf(upgraded!), 'app:v1 side:v1 side:v2');
  assert.equal(annotationsOf(upgraded!)[working], '{"side":"side-2"}');
  assert.deepEqual(versions(upgraded!), ['1', '7', '7', '1']);

  assert.equal(imagesOf(outcomeOf(hotSet, [upgraded!])[0]!), 'app:v1 side:v1 side:v2');
  const [flipped] = outcomeOf(hotSet, [ran(upgraded!)]);
  assert.equal(imagesOf(flipped!), 'app:v1 empty:v1 side:v2');
  assert.deepEqual(versions(flipped!), ['0', '7', '7', '0']);

  const [again] = outcomeOf(setOf({ containers: [hot('v3')] }), [ran(flipped!)]);
  assert.equal(imagesOf(again!), 'app:v1 side:v3 side:v2');
  assert.equal(annotationsOf(again!)[working], '{"side":"side-1"}');
});

test('the end of a hot upgrade is recorded as an event of the Pod', () => {
  const [upgraded] = outcomeOf(hotSet, [podOf('a', { of: hotOld })]);
  const flip = flattenSteps(decisionOn(hotSet, [ran(upgraded!)]).actions).find((action) => 'outcomeEvents' in action);
  assert.ok(flip && 'outcomeEvents' in flip);
  assert.deepEqual(
    [flip.outcomeEvents?.done?.reason, flip.outcomeEvents?.failed?.reason],
    ['ResetContainerSucceed', 'ResetContainerFailed'],
  );
});

test('a failed hot upgrade is retried in the failing container', () => {
  const [upgraded] = outcomeOf(setOf({ containers: [hot('bad')] }), [podOf('a', { of: hotOld })]);
  const [again] = outcomeOf(hotSet, [ran(upgraded!, ['side-2'])]);
  assert.equal(imagesOf(again!), 'app:v1 side:v1 side:v2');
});

test("a rollback to the other container's image changes only the hash", () => {
  const [upgraded] = outcomeOf(setOf({ containers: [hot('bad')] }), [podOf('a', { of: hotOld })]);
  const [back] = outcomeOf(hotOld, [ran(upgraded!, ['side-2'])]);
  assert.equal(imagesOf(back!), 'app:v1 side:v1 side:bad');
  assert.match(annotationsOf(back!)['kruise.io/sidecarset-hash'] ?? '', new RegExp(hashIn(hotOld)));
});

test('a Pod that is not ready only because of its empty container completes its upgrade', () => {
  const [upgraded] = outcomeOf(hotSet, [podOf('a', { of: hotOld })]);
  const [flipped] = outcomeOf(hotSet, [ran(upgraded!, ['side-1'])]);
  assert.equal(imagesOf(flipped!), 'app:v1 empty:v1 side:v2');
});

function hashIn({ metadata }: SidecarSet): string {
  return metadata.annotations?.['kruise.io/sidecarset-hash'] ?? '';
}
