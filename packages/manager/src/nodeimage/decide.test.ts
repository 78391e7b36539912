import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { ImageSpec, ImageTagSpec, ImageTagStatus, NodeImage } from '@kruise/api/kruise/nodeimage';
import { formatTime, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { decide, type Observed } from './decide.ts';

const now = instantOf(2026, 1, 1, 12);
const ago = (seconds: number) => formatTime(now - seconds * 1000);
const settings = { nodeImageCreationDelayMs: 30_000 };
const labels = { zone: 'a' };

const readyNode = (since: number): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', labels },
  status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ago(since) }] },
});
const nodeImage = (images?: { [name: string]: ImageSpec }, more: Partial<NodeImage> = {}): NodeImage => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'NodeImage',
  metadata: { name: 'node-1', labels },
  spec: images ? { images } : {},
  ...more,
});
const tag = (more: Partial<ImageTagSpec> = {}): ImageTagSpec => ({ tag: 'v1', createdAt: ago(0), ...more });
const owner = (uid: string, kind = 'ImagePullJob') => ({
  apiVersion: kind === 'ImagePullJob' ? 'apps.kruise.io/v1beta1' : 'v1',
  kind,
  namespace: 'default',
  name: `job-${uid}`,
  uid,
});
const observed = (more: Partial<Observed>): Observed => ({
  name: 'node-1',
  node: readyNode(3600),
  nodeImage: undefined,
  ownerExists: ({ uid }) => uid !== 'gone',
  hasSecret: ({ name }) => name !== 'missing',
  ...more,
});
const look = (more: Partial<Observed>) => decide(observed(more), settings, now);
const status = (tags: readonly ImageTagStatus[]) => ({
  desired: tags.length,
  succeeded: 0,
  failed: 0,
  pulling: 0,
  waiting: 0,
  imageStatuses: { app: { tags } },
});

/** Formats the decision; an update is shown by the tags it keeps of the image `app`. */
function formatDecision({
  actions,
  status: reported,
  requeueAfterSeconds: wait,
}: ReturnType<typeof decide>): readonly string[] {
  return [
    ...actions.map((action) => {
      if (action.type !== 'update') return action.type;
      const { spec } = action.object as NodeImage;
      const image = spec.images?.['app'];
      return image
        ? `keep ${image.tags.map((each) => each.tag + (each.ownerReferences ?? []).map(({ uid }) => ` of ${uid}`).join('')).join(', ')}`
        : 'keep nothing';
    }),
    ...(reported ? ['report'] : []),
    ...(wait === undefined ? [] : [`wait ${wait}`]),
  ];
}

const deleted = (object: NodeImage): NodeImage => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: ago(1) },
});
const fake = nodeImage(undefined, { metadata: { name: 'node-1', labels: { 'apps.kruise.io/fake-nodeimage': '' } } });

const lives: { name: string; observed: Partial<Observed>; does: readonly string[] }[] = [
  { name: 'a node that has been ready long enough gets a NodeImage', observed: {}, does: ['create'] },
  {
    name: 'a node that has just become ready gets a NodeImage later',
    observed: { node: readyNode(10) },
    does: ['wait 20'],
  },
  {
    name: 'a node that is not ready gets no NodeImage',
    observed: { node: { ...readyNode(3600), status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } } },
    does: [],
  },
  {
    name: 'the NodeImage of a deleted node is deleted',
    observed: { node: undefined, nodeImage: nodeImage() },
    does: ['remove'],
  },
  {
    name: 'a terminating NodeImage is not deleted again',
    observed: { node: undefined, nodeImage: deleted(nodeImage()) },
    does: [],
  },
  {
    name: 'a NodeImage with the fake label stays without a node',
    observed: { node: undefined, nodeImage: fake },
    does: [],
  },
  { name: 'a terminating NodeImage is ignored', observed: { nodeImage: deleted(nodeImage()) }, does: [] },
  { name: 'an up-to-date NodeImage is not changed', observed: { nodeImage: nodeImage() }, does: [] },
  {
    name: 'a NodeImage gets the labels of its node',
    observed: { nodeImage: nodeImage({ app: { tags: [tag()] } }, { metadata: { name: 'node-1' } }) },
    does: ['keep v1'],
  },
];
for (const { name, observed: world, does } of lives)
  test(name, () => assert.deepEqual(formatDecision(look(world)), does));

const done = (completed: number, version?: number): ImageTagStatus => ({
  tag: 'v1',
  phase: 'Succeeded',
  completionTime: ago(completed),
  ...(version === undefined ? {} : { version }),
});
const keptFor = (seconds: number) => ({ pullPolicy: { ttlSecondsAfterFinished: seconds } });

const tags: { name: string; tags: readonly ImageTagSpec[]; status?: ImageTagStatus; does: readonly string[] }[] = [
  { name: 'a tag without a creation time is removed', tags: [{ tag: 'v1' }], does: ['keep nothing'] },
  { name: 'a tag of an existing job stays', tags: [tag({ ownerReferences: [owner('a')] })], does: ['wait 600'] },
  {
    name: 'a tag of deleted jobs is removed',
    tags: [tag({ ownerReferences: [owner('gone')] })],
    does: ['keep nothing'],
  },
  {
    name: 'a deleted job is removed from the owners',
    tags: [tag({ ownerReferences: [owner('gone'), owner('b')] })],
    does: ['keep v1 of b'],
  },
  { name: 'a tag without owners stays', tags: [tag({ ownerReferences: [] })], does: ['wait 600'] },
  {
    name: 'one tag is removed, the other stays',
    tags: [{ tag: 'v0' }, tag()],
    does: ['keep v1'],
  },
  {
    name: 'a tag is removed after its TTL',
    tags: [tag(keptFor(60))],
    status: done(61),
    does: ['keep nothing'],
  },
  { name: 'a tag is removed exactly at its TTL', tags: [tag(keptFor(60))], status: done(60), does: ['keep nothing'] },
  { name: 'a tag is kept until its TTL', tags: [tag(keptFor(60))], status: done(30), does: ['wait 30'] },
  { name: 'the requeue delay is at least 3 s', tags: [tag(keptFor(60))], status: done(59), does: ['wait 3'] },
  {
    name: 'the completion of another version does not count',
    tags: [tag({ ...keptFor(60), version: 2 })],
    status: done(61, 1),
    does: ['wait 600'],
  },
  {
    name: 'a node that does not respond for 10 min has failed',
    tags: [tag({ createdAt: ago(600) })],
    does: ['report'],
  },
  {
    name: 'a node may exceed its deadline by 10 min',
    tags: [tag({ createdAt: ago(660), pullPolicy: { activeDeadlineSeconds: 120 } })],
    status: { tag: 'v1', phase: 'Pulling' },
    does: ['wait 60'],
  },
  {
    name: 'a node that takes longer has failed',
    tags: [tag({ createdAt: ago(720), pullPolicy: { activeDeadlineSeconds: 120 } })],
    status: { tag: 'v1', phase: 'Pulling' },
    does: ['report'],
  },
  {
    name: 'a node without a deadline may take any time',
    tags: [tag({ createdAt: ago(86_400) })],
    status: { tag: 'v1', phase: 'Pulling' },
    does: [],
  },
];
for (const { name, tags: wanted, status: answer, does } of tags) {
  test(name, () => {
    const object = nodeImage({ app: { tags: wanted } }, answer ? { status: status([answer]) } : {});
    assert.deepEqual(formatDecision(look({ nodeImage: object })), does);
  });
}

test('missing secrets are removed, except for shared copies', () => {
  const pullSecrets = [{ name: 'there' }, { name: 'missing' }, { name: 'missing', mode: 'batch' }];
  const { actions } = look({ nodeImage: nodeImage({ app: { tags: [tag()], pullSecrets } }) });
  const [action] = actions;
  assert.ok(action?.type === 'update');
  assert.deepEqual((action.object as NodeImage).spec.images?.['app']?.pullSecrets, [
    { name: 'there' },
    { name: 'missing', mode: 'batch' },
  ]);
});

test('a response timeout is reported in the status and in events for all owners', () => {
  const wanted = tag({ tag: 'v2', createdAt: ago(601), version: 3, ownerReferences: [owner('a')] });
  const others: ImageTagStatus[] = [
    { tag: 'v0', phase: 'Succeeded' },
    { tag: 'v1', phase: 'Succeeded', completionTime: ago(5) },
    { tag: 'v2', phase: 'Pulling', version: 2 },
  ];
  const object = nodeImage({ app: { tags: [tag(), wanted] } }, { status: { ...status(others), waiting: 1 } });
  const { status: reported, events } = look({ nodeImage: object });
  const message = 'node has not responded for a long time';
  assert.deepEqual(reported, {
    desired: 2,
    succeeded: 1,
    failed: 1,
    pulling: 0,
    waiting: 1,
    imageStatuses: {
      app: { tags: [others[1], { tag: 'v2', phase: 'Failed', completionTime: ago(0), version: 3, message }] },
    },
  });
  assert.deepEqual(
    events?.map((event) => `${event.about.kind} ${event.type} ${event.reason}: ${event.message}`),
    ['ImagePullJob', 'NodeImage'].map(
      (kind) => `${kind} Warning PullImageFailed: Failed to pull image app:v2 on node node-1 for ${message}`,
    ),
  );
});

test('the decision is idempotent', () => {
  const anyTag = fc.record(
    {
      tag: fc.constantFrom('v1', 'v2', 'v3'),
      createdAt: fc.integer({ min: 0, max: 1200 }).map(ago),
      version: fc.integer({ min: 0, max: 2 }),
      ownerReferences: fc.array(fc.constantFrom(owner('a'), owner('gone'), owner('x', 'Pod')), { maxLength: 2 }),
      pullPolicy: fc.record({ ttlSecondsAfterFinished: fc.integer({ min: 0, max: 60 }) }),
    },
    { requiredKeys: ['tag'] },
  );
  const anyStatus = fc.record(
    {
      tag: fc.constantFrom('v1', 'v2', 'v3'),
      phase: fc.constantFrom('Pulling', 'Succeeded', 'Failed'),
      version: fc.integer({ min: 0, max: 2 }),
      completionTime: fc.integer({ min: 0, max: 90 }).map(ago),
    },
    { requiredKeys: ['tag', 'phase'] },
  );
  const uniqueTags = <T extends { readonly tag: string }>(each: fc.Arbitrary<T>) =>
    fc.uniqueArray(each, { selector: (item) => item.tag });
  fc.assert(
    fc.property(uniqueTags(anyTag), uniqueTags(anyStatus), (wanted, answers) => {
      let object = nodeImage(
        { app: { tags: wanted as ImageTagSpec[] } },
        { status: status(answers as ImageTagStatus[]) },
      );
      // Pruned tags are evaluated again, and failed tags may expire.
      for (let pass = 0; pass < 3; pass++) {
        const { actions, status: reported } = look({ nodeImage: object });
        const [action] = actions;
        if (action?.type === 'update') object = action.object as NodeImage;
        if (typeof reported === 'object') object = { ...object, status: reported };
      }
      const { actions, status: reported } = look({ nodeImage: object });
      assert.deepEqual({ actions, reported }, { actions: [], reported: undefined });
    }),
  );
});
