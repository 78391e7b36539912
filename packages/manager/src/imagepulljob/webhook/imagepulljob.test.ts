import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageListPullJob } from '@kruise/api/kruise/imagelistpulljob';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { NodeImage } from '@kruise/api/kruise/nodeimage';
import { imageListPullJobFault } from '../../imagelistpulljob/webhook/validate.ts';
import { defaultNodeImage } from '../../nodeimage/webhook/default.ts';
import { nodeImageFault } from '../../nodeimage/webhook/validate.ts';
import { defaultImagePullJob, holdImagePullJob } from './default.ts';
import { imagePullJobFault } from './validate.ts';

const labels = { matchLabels: { a: 'b' } };
const job = (spec: Partial<ImagePullJob['spec']> = {}): ImagePullJob => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'ImagePullJob',
  metadata: { name: 'pull', namespace: 'default' },
  spec: { image: 'app:v1', completionPolicy: { type: 'Always' }, ...spec },
});
const list = (images: readonly string[]): ImageListPullJob => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'ImageListPullJob',
  metadata: { name: 'list', namespace: 'default' },
  spec: { images, completionPolicy: { type: 'Always' } },
});

test('a minimal job completes, and skips nodes that have the image', () => {
  assert.deepEqual(defaultImagePullJob(job({ completionPolicy: {} })).spec, {
    image: 'app:v1',
    completionPolicy: { type: 'Always' },
    pullPolicy: { timeoutSeconds: 600, backoffLimit: 3 },
    imagePullPolicy: 'IfNotPresent',
  });
});

test('an incomplete pull policy gets defaults', () => {
  const { pullPolicy } = defaultImagePullJob(job({ pullPolicy: { backoffLimit: 1 } })).spec;
  assert.deepEqual(pullPolicy, { timeoutSeconds: 600, backoffLimit: 1 });
});

test('the finalizer of a job is added once', () => {
  const held = holdImagePullJob(job());
  assert.deepEqual(held.metadata.finalizers, ['apps.kruise.io/deletion-protection']);
  assert.equal(holdImagePullJob(held), held);
});

const jobs: { is: string; spec: Partial<ImagePullJob['spec']>; expected?: string }[] = [
  { is: 'that is complete', spec: {} },
  { is: 'for some nodes by name', spec: { selector: { names: ['a', 'b'] } } },
  { is: 'for nodes of no labels', spec: { selector: {} } },
  { is: 'with a number written as a text', spec: { parallelism: '50' } },
  {
    is: 'with as long for all as for one attempt',
    spec: { completionPolicy: { type: 'Always', activeDeadlineSeconds: 600 } },
  },
  {
    is: 'by name and by label',
    spec: { selector: { names: ['a'], ...labels } },
    expected: 'can not set both names and labelSelector in this spec.selector',
  },
  { is: 'with a name twice', spec: { selector: { names: ['a', 'a'] } }, expected: 'duplicated name in selector names' },
  {
    is: 'with two selectors',
    spec: { selector: labels, podSelector: labels },
    expected: 'can not set both selector and podSelector',
  },
  {
    is: 'with an unknown operator',
    spec: { podSelector: { matchExpressions: [{ key: 'a', operator: 'Among' as 'In' }] } },
    expected: 'invalid podSelector: "Among" is not a valid label selector operator',
  },
  { is: 'without an image', spec: { image: '' }, expected: 'image can not be empty' },
  {
    is: 'with capitals',
    spec: { image: 'App:v1' },
    expected: 'invalid image App:v1: invalid reference format: repository name must be lowercase',
  },
  { is: 'with nonsense', spec: { image: 'a b' }, expected: 'invalid image a b: invalid reference format' },
  { is: 'with a percentage', spec: { parallelism: '5%' }, expected: 'parallelism does not support percentage value' },
  {
    is: 'with no number',
    spec: { parallelism: 'x' },
    expected: 'parallelism must be a valid integer: strconv.ParseInt: parsing "x": invalid syntax',
  },
  { is: 'with less than none', spec: { parallelism: -1 }, expected: 'parallelism must be non-negative' },
  {
    is: 'with too short a deadline',
    spec: { completionPolicy: { type: 'Always', activeDeadlineSeconds: 599 } },
    expected: 'completionPolicy.activeDeadlineSeconds must be greater than pullPolicy.timeoutSeconds(default 600)',
  },
  {
    is: 'that never ends, at a time',
    spec: { completionPolicy: { type: 'Never', ttlSecondsAfterFinished: 0 } },
    expected: 'activeDeadlineSeconds and ttlSecondsAfterFinished can only work with Always CompletionPolicyType',
  },
  {
    is: 'that ends somehow',
    spec: { completionPolicy: { type: 'Sometimes' as 'Never' } },
    expected: 'unknown type of completionPolicy: Sometimes',
  },
];
for (const { is, spec, expected } of jobs) {
  test(`a job ${is} is ${expected ? 'refused' : 'accepted'}`, () =>
    assert.equal(imagePullJobFault(job(spec)), expected));
}

const many = Array.from({ length: 256 }, (_, index) => `app:v${index}`);
const lists: { is: string; images: readonly string[]; expected?: string }[] = [
  { is: 'of 255 images', images: many.slice(1) },
  { is: 'of none', images: [], expected: 'image can not be empty' },
  { is: 'of one twice', images: ['a', 'a'], expected: 'images cannot have duplicate values' },
  { is: 'of 256', images: many, expected: 'the maximum number of images cannot > 255' },
  {
    is: 'with an invalid image',
    images: ['app', `${'a'.repeat(64)}`],
    expected: `invalid image ${'a'.repeat(64)}: invalid repository name (${'a'.repeat(64)}), cannot specify 64-byte hexadecimal strings`,
  },
];
for (const { is, images, expected } of lists) {
  test(`a list ${is} is ${expected ? 'refused' : 'accepted'}`, () =>
    assert.equal(imageListPullJobFault(list(images)), expected));
}

type Tags = NonNullable<NodeImage['spec']['images']>[string]['tags'];
const nodeImage = (tags: Tags): NodeImage => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'NodeImage',
  metadata: { name: 'node-1' },
  spec: { images: { app: { tags } } },
});

test('tags of a NodeImage get a creation time and are sorted', () => {
  const pullPolicy = { timeoutSeconds: 600, backoffLimit: 3 };
  const createdAt = '1970-01-01T00:00:00Z';
  assert.deepEqual(defaultNodeImage(nodeImage([{ tag: 'b' }, { tag: 'a' }]), 0).spec.images?.['app']?.tags, [
    { tag: 'a', createdAt, pullPolicy },
    { tag: 'b', createdAt, pullPolicy },
  ]);
});

const ttl = { pullPolicy: { ttlSecondsAfterFinished: 5 } };
const tagCases: { is: string; tags: Tags; expected?: string }[] = [
  { is: 'with a time to live', tags: [{ tag: 'v1', ...ttl }] },
  { is: 'without', tags: [{ tag: 'v1' }], expected: 'pullPolicy.ttlSecondsAfterFinished for app/v1 must set' },
  {
    is: 'twice',
    tags: [
      { tag: 'v1', ...ttl },
      { tag: 'v1', ...ttl },
    ],
    expected: 'duplicated tag v1 for image app',
  },
  { is: 'without a name', tags: [{ tag: '' }], expected: 'tag for image app can not be empty' },
  {
    is: 'before its first version',
    tags: [{ tag: 'v1', version: -1, ...ttl }],
    expected: 'version for app/v1 can not be less than 0',
  },
];
for (const { is, tags, expected } of tagCases) {
  test(`a tag ${is} is ${expected ? 'refused' : 'accepted'}`, () =>
    assert.equal(nodeImageFault(defaultNodeImage(nodeImage(tags), 0)), expected));
}
