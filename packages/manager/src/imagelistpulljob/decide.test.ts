import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import type { ImagePullJob, ImagePullJobStatus } from '@kruise/api/kruise/imagepulljob';
import { flattenSteps } from '@kruise/client/actions';
import { formatTime, instantOf } from '@kruise/values/time';
import { decide } from './decide.ts';
import { templateHash, templateOf } from './template-hash.ts';

const now = instantOf(2026, 1, 1, 12);
const ago = (seconds: number) => formatTime(now - seconds * 1000);
const job = (images: readonly string[], more: Partial<ImageListPullJob> = {}): ImageListPullJob => {
  const spec = { images, completionPolicy: { type: 'Always' as const }, ...more.spec };
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ImageListPullJob',
    metadata: {
      name: 'list',
      namespace: 'default',
      uid: 'u',
      labels: { 'controller-revision-hash': templateHash(spec) },
    },
    ...more,
    spec,
  };
};
const child = (image: string, status: Partial<ImagePullJobStatus> = {}, hash?: string | null): ImagePullJob => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'ImagePullJob',
  metadata: {
    name: `list-${image}`,
    namespace: 'default',
    ...(hash === null ? {} : { labels: { 'controller-revision-hash': hash ?? templateHash(job([]).spec) } }),
  },
  spec: { image, completionPolicy: { type: 'Always' } },
  status: { startTime: ago(5), desired: 1, active: 0, succeeded: 0, failed: 0, ...status },
});
const succeeded = { succeeded: 1 };
const active = { active: 1 };
const failed = { failed: 1 };

function formatDecision({ actions, requeueAfterSeconds: wait }: ReturnType<typeof decide>): readonly string[] {
  const did = flattenSteps(actions).map((action) => {
    if (action.type === 'record') return `${action.event.reason}: ${action.event.message}`;
    if (action.type === 'create') return `create ${(action.object as ImagePullJob).spec.image}`;
    return 'object' in action ? `${action.type} ${action.object.metadata.name}` : action.type;
  });
  return wait === undefined ? did : [...did, `wait ${wait}`];
}
function statusOf({ status }: ReturnType<typeof decide>, hasFailed = false) {
  assert.ok(typeof status === 'function');
  const failures = hasFailed ? [{ action: { type: 'effect' as const, name: '', input: 0 }, error: new Error() }] : [];
  return status({ failures, isStale: false, written: new Map() });
}

const cases: { name: string; job: ImageListPullJob; children: readonly ImagePullJob[]; does: readonly string[] }[] = [
  {
    name: 'every image gets a job',
    job: job(['a', 'b']),
    children: [],
    does: ['create a', 'create b', 'Successful create ImagePullJob: Create 2 ImagePullJob'],
  },
  { name: 'a complete list needs no action', job: job(['a']), children: [child('a', active)], does: [] },
  {
    name: 'a new image gets a job',
    job: job(['a', 'b']),
    children: [child('a')],
    does: ['create b', 'Successful create ImagePullJob: Create 1 ImagePullJob'],
  },
  {
    name: 'the job of a removed image is deleted',
    job: job(['a']),
    children: [child('a'), child('b')],
    does: ['remove list-b', 'Successful delete ImagePullJob: Delete 1 ImagePullJob'],
  },
  {
    name: 'a new template replaces every job',
    job: job(['a']),
    children: [child('a', active, 'former')],
    does: [
      'create a',
      'Successful create ImagePullJob: Create 1 ImagePullJob',
      'remove list-a',
      'Successful delete ImagePullJob: Delete 1 ImagePullJob',
    ],
  },
  {
    name: 'a job without a hash label is kept if its spec is equal',
    job: job(['a']),
    children: [child('a', {}, null)],
    does: [],
  },
  {
    name: 'a duplicate job of an image is deleted',
    job: job(['a']),
    children: [child('a'), { ...child('a'), metadata: { ...child('a').metadata, name: 'again' } }],
    does: ['remove again', 'Successful delete ImagePullJob: Delete 1 ImagePullJob'],
  },
  {
    name: 'a terminating job does not count',
    job: job(['a']),
    children: [{ ...child('a'), metadata: { ...child('a').metadata, deletionTimestamp: ago(0) } }],
    does: ['create a', 'Successful create ImagePullJob: Create 1 ImagePullJob'],
  },
  {
    name: 'the hash of the template is a label of the list',
    job: job(['a'], { metadata: { name: 'list', namespace: 'default', uid: 'u' } }),
    children: [child('a')],
    does: ['patch list'],
  },
  {
    name: 'a finished list waits for its TTL',
    job: job(['a'], {
      spec: { images: ['a'], completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 30 } },
      status: { desired: 1, active: 0, completed: 1, succeeded: 1, completionTime: ago(10) },
    }),
    children: [],
    does: ['wait 20'],
  },
];
for (const { name, job: list, children, does } of cases) {
  test(name, () => assert.deepEqual(formatDecision(decide({ job: list, children }, now)), does));
}

test('a finished list is deleted after its TTL', () => {
  const list = job(['a'], {
    spec: { images: ['a'], completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 10 } },
    status: { desired: 1, active: 0, completed: 1, succeeded: 1, completionTime: ago(10) },
  });
  assert.deepEqual(formatDecision(decide({ job: list, children: [] }, now)), ['remove list']);
});

test('the status counts images, not nodes', () => {
  const list = job(['a', 'b', 'c', 'd']);
  const { startTime: _none, ...notStarted } = child('d', failed).status!;
  const children = [
    child('a', succeeded),
    child('b', active),
    child('c', failed),
    { ...child('d'), status: notStarted },
  ];
  assert.deepEqual(statusOf(decide({ job: list, children }, now)), {
    startTime: ago(0),
    desired: 4,
    active: 1,
    completed: 2,
    succeeded: 1,
    failedImageStatuses: [
      {
        imagePullJob: 'list-c',
        name: 'c',
        message: "Please check for details which nodes failed by 'kubectl get ImagePullJob list-c'.",
      },
    ],
  });
});

test('a list completes when every image does, unless its policy is Never', () => {
  const children = [child('a', succeeded), child('b', failed)];
  assert.equal(statusOf(decide({ job: job(['a', 'b']), children }, now))?.completionTime, ago(0));
  const endless = job(['a', 'b'], { spec: { images: ['a', 'b'], completionPolicy: { type: 'Never' } } });
  assert.equal(statusOf(decide({ job: endless, children }, now))?.completionTime, undefined);
});

test('a failed write leaves the status unchanged', () => {
  assert.equal(statusOf(decide({ job: job(['a']), children: [] }, now), true), undefined);
});

test('a template is the spec without the image', () => {
  assert.deepEqual(templateOf({ image: 'a', parallelism: 2, completionPolicy: {} }), {
    parallelism: 2,
    completionPolicy: {},
  });
});

const hashes: { of: string; spec: ImageListPullJob['spec']; hash: string }[] = [
  {
    of: 'nodes by label',
    spec: {
      images: ['app:v1', 'side:v2'],
      selector: { matchLabels: { scenario: 'kbf070fde7' } },
      parallelism: 10,
      completionPolicy: { type: 'Always' },
      pullPolicy: { timeoutSeconds: 600, backoffLimit: 3 },
    },
    hash: '5c59966ccf',
  },
  { of: 'all nodes', spec: { images: ['a'], completionPolicy: {} }, hash: '6b7d768b67' },
  {
    of: 'nodes with Pods',
    spec: {
      images: ['a'],
      pullSecrets: ['s', 't'],
      podSelector: {
        matchLabels: { b: '2', a: '1' },
        matchExpressions: [
          { key: 'k', operator: 'In', values: ['x', 'y'] },
          { key: 'l', operator: 'Exists' },
        ],
      },
      parallelism: '5',
      completionPolicy: { type: 'Never' },
    },
    hash: '669575776d',
  },
  {
    of: 'nodes by name',
    spec: {
      images: ['a'],
      selector: { names: ['node-1', 'node-2'] },
      pullPolicy: { backoffLimit: 0 },
      completionPolicy: { type: 'Always', activeDeadlineSeconds: 1200, ttlSecondsAfterFinished: 60 },
      sandboxConfig: { labels: { l: '1' }, annotations: { a: '2' } },
      imagePullPolicy: 'Always',
    },
    hash: '6cdcb974c6',
  },
  {
    of: 'empty fields',
    spec: {
      images: ['a'],
      selector: { matchExpressions: [] },
      podSelector: {},
      completionPolicy: { type: 'Always' },
      sandboxConfig: {},
    },
    hash: '74f689ddd4',
  },
];
for (const { of, spec, hash } of hashes) {
  test(`the hash of a template for ${of} is OpenKruise's`, () => assert.equal(templateHash(spec), hash));
}
