import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { type ImagePullJob, imagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { ImageSpec, NodeImage } from '@kruise/api/kruise/nodeimage';
import type { Caches, Change } from '@kruise/client/informer';
import { keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { ago, job, nodeImage, nodeImageWithTag, nodeStatus, secret } from './fixtures.ts';
import { jobsOfNodeImage, jobsOfPod, jobsOfSecret } from './mappers.ts';

const named = (name: string, spec: Partial<ImagePullJob['spec']> = {}, status?: ImagePullJob['status']) =>
  job(spec, { metadata: { name }, ...(status ? { status } : {}) });
const done = { desired: 0, active: 0, succeeded: 0, failed: 0, completionTime: ago(1) };
const jobs = [
  named('all'),
  named('other-tag', { image: 'app:v2' }),
  named('other-image', { image: 'side:v1' }),
  named('on-a', { selector: { names: ['a'] } }),
  named('on-b', { selector: { names: ['b'] } }),
  named('in-zone', { selector: { matchLabels: { zone: '1' } } }),
  named('by-pods', { image: 'pods:v1', podSelector: { matchLabels: { app: 'web' } } }),
  named('with-key', { image: 'key:v1', pullSecrets: ['key'], selector: { names: [] } }),
  named('done', { podSelector: {}, pullSecrets: ['key'] }, done),
];

/** Returns caches with jobs only. */
function cachesOf(known: readonly ImagePullJob[]): Caches {
  const store = createObjectStore<ImagePullJob>();
  for (const each of known) store.set(keyOf(each), each);
  const of = (kind: unknown) => {
    assert.equal(kind, imagePullJob);
    return store;
  };
  // The mappers read only jobs.
  return { of } as unknown as Caches;
}
const caches = cachesOf(jobs);
const enqueues = (keys: readonly string[]) => keys.map((key) => key.replace('default/', ''));
const everyone = ['all', 'other-tag', 'other-image', 'by-pods'];

const labelled = (zone: string): NodeImage => ({ ...nodeImage('a'), metadata: { name: 'a', labels: { zone } } });
const withApp = (app: Partial<ImageSpec>): NodeImage => nodeImage('a', { tags: [{ tag: 'v1' }], ...app });
const leaving: NodeImage = { ...nodeImage('a'), metadata: { name: 'a', deletionTimestamp: ago(1) } };

const nodes: { name: string; change: Change<NodeImage>; enqueues: readonly string[] }[] = [
  {
    name: 'a new node',
    change: { type: 'added', object: nodeImage('a'), cause: 'event' },
    enqueues: [...everyone.slice(0, 3), 'on-a', 'by-pods'],
  },
  {
    name: 'a terminating node',
    change: { type: 'updated', object: leaving, previous: nodeImage('a'), cause: 'event' },
    enqueues: [...everyone.slice(0, 3), 'on-a', 'by-pods'],
  },
  {
    name: 'an unchanged node',
    change: {
      type: 'updated',
      object: nodeImageWithTag('a', 'Pulling'),
      previous: nodeImageWithTag('a', 'Pulling'),
      cause: 'event',
    },
    enqueues: [],
  },
  {
    name: 'a node with new labels',
    change: { type: 'updated', object: labelled('1'), previous: labelled('2'), cause: 'event' },
    enqueues: ['in-zone'],
  },
  {
    name: 'a node that reports a change of a tag',
    change: {
      type: 'updated',
      object: nodeImageWithTag('a', 'Succeeded'),
      previous: nodeImageWithTag('a', 'Pulling'),
      cause: 'event',
    },
    enqueues: ['all', 'on-a'],
  },
  {
    name: 'a node with a first status',
    change: {
      type: 'updated',
      object: nodeImageWithTag('a', 'Pulling'),
      previous: nodeImageWithTag('a'),
      cause: 'event',
    },
    enqueues: ['all', 'on-a'],
  },
  {
    name: 'a node with new Secrets for an image',
    change: {
      type: 'updated',
      object: withApp({ pullSecrets: [{ name: 'x' }] }),
      previous: withApp({}),
      cause: 'event',
    },
    enqueues: ['all', 'other-tag', 'on-a'],
  },
  {
    name: 'a node without a former image',
    change: { type: 'updated', object: nodeImage('a'), previous: withApp({}), cause: 'event' },
    enqueues: ['all', 'other-tag', 'on-a'],
  },
  {
    name: 'a node with reordered tags',
    change: {
      type: 'updated',
      object: withApp({ tags: [{ tag: 'v1' }, { tag: 'v2' }] }),
      previous: withApp({ tags: [{ tag: 'v2' }, { tag: 'v1' }] }),
      cause: 'event',
    },
    enqueues: [],
  },
  {
    name: 'a node without a former image status',
    change: {
      type: 'updated',
      object: { ...withApp({}), status: nodeStatus([]) },
      previous: { ...withApp({}), status: nodeStatus([{ tag: 'v2', phase: 'Pulling' }]) },
      cause: 'event',
    },
    enqueues: ['other-tag'],
  },
];
for (const { name, change, enqueues: expected } of nodes) {
  test(`${name} enqueues [${expected}]`, () => assert.deepEqual(enqueues(jobsOfNodeImage(change, caches)), expected));
}

const pod = (parts: { node?: string; app?: string; namespace?: string; isLeaving?: boolean } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: parts.namespace ?? 'default',
    labels: { app: parts.app ?? 'web' },
    ...(parts.isLeaving ? { deletionTimestamp: ago(1) } : {}),
  },
  spec: { containers: [], ...(parts.node === undefined ? {} : { nodeName: parts.node }) },
});
const onA = { node: 'a' };
const podCases: { name: string; now: Pod; before?: Pod; enqueues: readonly string[] }[] = [
  { name: 'an unscheduled Pod', now: pod(), enqueues: [] },
  { name: 'a scheduled Pod', now: pod(onA), before: pod(), enqueues: ['by-pods'] },
  { name: 'an initial Pod', now: pod(onA), enqueues: ['by-pods'] },
  { name: 'a Pod with other labels', now: pod({ ...onA, app: 'db' }), enqueues: [] },
  { name: 'a Pod in another namespace', now: pod({ ...onA, namespace: 'other' }), enqueues: [] },
  { name: 'a Pod with a new status', now: pod(onA), before: pod(onA), enqueues: [] },
  { name: 'a terminating Pod', now: pod({ ...onA, isLeaving: true }), before: pod(onA), enqueues: ['by-pods'] },
  {
    name: 'a Pod that is still terminating',
    now: pod({ ...onA, isLeaving: true }),
    before: pod({ ...onA, isLeaving: true }),
    enqueues: [],
  },
  { name: 'a Pod with new labels', now: pod({ ...onA, app: 'db' }), before: pod(onA), enqueues: ['by-pods'] },
];
for (const { name, now, before, enqueues: expected } of podCases) {
  test(`${name} enqueues [${expected}]`, () => {
    const change: Change<Pod> = before
      ? { type: 'updated', object: now, previous: before, cause: 'event' }
      : { type: 'added', object: now, cause: 'event' };
    assert.deepEqual(enqueues(jobsOfPod(change, caches)), expected);
  });
}

const key = secret('key');
const secrets: { name: string; change: Change<typeof key>; enqueues: readonly string[] }[] = [
  {
    name: 'a new Secret',
    change: { type: 'added', object: key, cause: 'event' },
    enqueues: ['with-key', 'done'],
  },
  {
    name: 'a Secret with new content',
    change: { type: 'updated', object: secret('key', {}, { a: 'Yw==' }), previous: key, cause: 'event' },
    enqueues: ['with-key', 'done'],
  },
  {
    name: 'a Secret with the same content',
    change: { type: 'updated', object: secret('key', { labels: { a: 'b' } }), previous: key, cause: 'event' },
    enqueues: [],
  },
  { name: 'a deleted Secret', change: { type: 'deleted', object: key, cause: 'event' }, enqueues: [] },
  {
    name: 'a copy',
    change: { type: 'added', object: secret('key', { namespace: 'kruise-daemon-config' }), cause: 'event' },
    enqueues: [],
  },
];
for (const { name, change, enqueues: expected } of secrets) {
  test(`${name} enqueues [${expected}]`, () => {
    assert.deepEqual(enqueues(jobsOfSecret('kruise-daemon-config')(change, caches)), expected);
  });
}
