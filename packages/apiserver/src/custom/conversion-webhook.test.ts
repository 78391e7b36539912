import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@kruise/values/random';
import type { KubeObject } from '../object.ts';
import { conversionWebhook } from './conversion-webhook.ts';

const clientConfig = { url: 'https://h.example.com' };
const toy = (name: string, version = 'v1'): KubeObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'Toy',
  metadata: { name, uid: `uid-${name}`, labels: { from: version } },
});

type Request = { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly KubeObject[] };
type Review = { readonly apiVersion: string; readonly kind: string; readonly request: Request };

/** Creates a converter whose webhook returns `answer`, and records its requests. */
function converter(answer: (review: Review) => unknown, versions = ['v1']) {
  const asked: Request[] = [];
  const call = async (_client: unknown, review: unknown) => {
    asked.push((review as Review).request);
    return answer(review as Review);
  };
  const webhook = { clientConfig, conversionReviewVersions: versions };
  const parts = { caller: { call }, random: seededRandom(1), signal: new AbortController().signal };
  return { ...conversionWebhook(webhook, parts), asked };
}

const respond = ({ apiVersion, kind, request }: Review, more: object = {}, objects: readonly unknown[] = []) => ({
  apiVersion,
  kind,
  response: { uid: request.uid, result: { status: 'Success' }, convertedObjects: objects, ...more },
});
const renamed = ({ request }: Review, change: (object: KubeObject) => unknown = (object) => object) =>
  request.objects.map((object) => change({ ...object, apiVersion: request.desiredAPIVersion }));

test('one review converts all objects of other versions, in place', async () => {
  const { convert, asked } = converter((review) => respond(review, {}, renamed(review)));
  const objects = [toy('a'), toy('b', 'v2'), toy('c')];
  const converted = await convert(objects, 'example.com/v2');
  assert.deepEqual(
    converted.map(({ apiVersion, metadata }) => `${apiVersion} ${metadata.name}`),
    ['example.com/v2 a', 'example.com/v2 b', 'example.com/v2 c'],
  );
  assert.equal(converted[1], objects[1]);
  assert.deepEqual(
    asked.map((request) => request.objects.map(({ metadata }) => metadata.name)),
    [['a', 'c']],
  );
});

test('objects that need no conversion are not sent', async () => {
  const { convert, asked } = converter(() => assert.fail('was asked'));
  assert.deepEqual(await convert([toy('a')], 'example.com/v1'), [toy('a')]);
  assert.deepEqual(asked, []);
});

test('only labels and annotations of the converted metadata are used', async () => {
  const { convert } = converter((review) =>
    respond(
      review,
      {},
      renamed(review, (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { to: 'v2' }, annotations: { a: 'b' }, finalizers: ['x'] },
      })),
    ),
  );
  const [converted] = await convert([toy('a')], 'example.com/v2');
  assert.deepEqual(converted?.metadata, { name: 'a', uid: 'uid-a', labels: { to: 'v2' }, annotations: { a: 'b' } });
});

test('the first common review version is used', async () => {
  const versions: string[] = [];
  const { convert } = converter(
    (review) => {
      versions.push(review.apiVersion);
      return respond(review, { uid: 'nobody checks it' }, renamed(review));
    },
    ['v9', 'v1beta1', 'v1'],
  );
  await convert([toy('a')], 'example.com/v2');
  assert.deepEqual(versions, ['apiextensions.k8s.io/v1beta1']);
});

const failures: readonly {
  readonly name: string;
  readonly answer: (review: Review) => unknown;
  readonly why: string;
}[] = [
  {
    name: 'a call that fails',
    answer: () => {
      throw new Error('connection refused');
    },
    why: 'failed: connection refused',
  },
  {
    name: 'an answer that is no review',
    answer: () => ({}),
    why: 'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
  },
  {
    name: 'a review without response',
    answer: ({ apiVersion, kind }) => ({ apiVersion, kind }),
    why: 'failed: no response provided',
  },
  {
    name: "another request's response",
    answer: (review) => respond(review, { uid: 'x' }),
    why: 'failed: expected response.uid=',
  },
  {
    name: 'a refusal with a reason',
    answer: (review) => respond(review, { result: { status: 'Failure', message: 'not today' } }),
    why: 'failed: not today',
  },
  {
    name: 'a refusal without one',
    answer: (review) => respond(review, { result: {} }),
    why: "failed: response.result.status was '', not 'Success'",
  },
  { name: 'too few objects', answer: (review) => respond(review), why: 'returned 0 objects, expected 1' },
  {
    name: 'an object of another version',
    answer: (review) => respond(review, {}, review.request.objects),
    why: 'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)',
  },
  {
    name: 'another object',
    answer: (review) =>
      respond(
        review,
        {},
        renamed(review, () => toy('b', 'v2')),
      ),
    why: 'returned invalid object: must have the same name: a != b',
  },
  {
    name: 'labels that are no labels',
    answer: (review) =>
      respond(
        review,
        {},
        renamed(review, (object) => ({ ...object, metadata: { ...object.metadata, labels: { a: 1 } } })),
      ),
    why: 'returned invalid metadata: metadata.labels[a] must be a string, but is number in converted object',
  },
];
for (const { name, answer, why } of failures) {
  test(`${name} is reported as a webhook failure`, async () => {
    await assert.rejects(
      async () => converter(answer).convert([toy('a')], 'example.com/v2'),
      (error: Error & { code?: number }) => {
        assert.equal(error.code, 500);
        assert.ok(error.message.startsWith(`conversion webhook for example.com/v1, Kind=Toy ${why}`), error.message);
        return true;
      },
    );
  });
}
