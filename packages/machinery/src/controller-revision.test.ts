import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { stringifySorted } from '@kruise/values/go-json';
import fc from 'fast-check';
import {
  compareRevisions,
  findRevisionsToPrune,
  hashOfData,
  isSameRevision,
  newRevision,
  nextRevisionNumber,
  planRevision,
  podTemplateData,
  podTemplateOf,
} from './controller-revision.ts';

const plain = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'nginx:1.25' }] },
} satisfies PodTemplateSpec;

const intricate = {
  metadata: { labels: { app: 'web', 9: 'y', 10: 'x', tier: 'a<b&c>' }, annotations: { 'é\u2028': 'é' } },
  spec: {
    terminationGracePeriodSeconds: 9223372036854775807n,
    volumes: [{ name: 'data', emptyDir: { sizeLimit: '0.5Gi' } }],
    containers: [
      {
        name: 'main',
        image: 'nginx:1.25',
        command: ['sh', '-c', 'echo a && sleep 1 > /dev/null'],
        resources: { requests: { cpu: '0.1' }, limits: { cpu: '1' } },
      },
    ],
  },
} as unknown as PodTemplateSpec;

// What Go's own types and encoder give for the same templates.
const written = [
  {
    name: 'a plain template',
    template: plain,
    text: '{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[{"image":"nginx:1.25","name":"main","resources":{}}]}}}}',
    hashes: ['5fcb4ccfb4', '5fcb4ccfb5'],
  },
  {
    name: 'a template with all that Go writes in a way of its own',
    template: intricate,
    text: '{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"é\\u2028":"é"},"creationTimestamp":null,"labels":{"10":"x","9":"y","app":"web","tier":"a\\u003cb\\u0026c\\u003e"}},"spec":{"containers":[{"command":["sh","-c","echo a \\u0026\\u0026 sleep 1 \\u003e /dev/null"],"image":"nginx:1.25","name":"main","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"100m"}}}],"terminationGracePeriodSeconds":9223372036854776000,"volumes":[{"emptyDir":{"sizeLimit":"512Mi"},"name":"data"}]}}}}',
    hashes: ['6ff8846d4c', '6ff8846d4b'],
  },
  {
    name: 'an empty template',
    template: {} as PodTemplateSpec,
    text: '{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":null}}}}',
    hashes: ['79b7c84989', '79b7c84988'],
  },
];
for (const { name, template, text, hashes } of written) {
  test(`${name} is written and hashed as Go does`, () => {
    const data = podTemplateData(template);
    assert.equal(stringifySorted(data), text);
    assert.deepEqual([hashOfData(data), hashOfData(data, 1)], hashes);
  });
}

test('a template comes back from its revision', () => {
  const restored = podTemplateOf({ data: podTemplateData(plain) });
  assert.deepEqual(podTemplateData(restored!), podTemplateData(plain));
  assert.equal('$patch' in restored!, false);
});

test('data of another sort has no template', () => {
  for (const data of [undefined, {}, { spec: {} }, { spec: { template: 'x' } }]) {
    assert.equal(podTemplateOf({ data } as ControllerRevision), undefined);
  }
});

test('defaults that Go writes out make no difference', () => {
  const spelt = {
    metadata: { creationTimestamp: null, labels: { app: 'web' } },
    spec: { containers: [{ image: 'nginx:1.25', name: 'main', resources: {}, env: [] }], volumes: [] },
  } as PodTemplateSpec;
  assert.equal(hashOfData(podTemplateData(spelt)), hashOfData(podTemplateData(plain)));
});

const owner = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
};
const content = (image: string) => ({
  data: podTemplateData({ ...plain, spec: { containers: [{ name: 'main', image }] } }),
  labels: { app: 'web' },
});
const revisionOf = (image: string, revision: number) => newRevision(owner, content(image), { revision });

test('a revision belongs to its workload and says its hash', () => {
  const { metadata, revision } = newRevision(owner, { ...content('a'), annotations: { note: 'x' } }, { revision: 3 });
  const hash = hashOfData(content('a').data);
  assert.equal(metadata.name, `web-${hash}`);
  assert.equal(metadata.namespace, 'default');
  assert.deepEqual(metadata.labels, { app: 'web', 'controller.kubernetes.io/hash': hash });
  assert.deepEqual(metadata.annotations, { note: 'x' });
  assert.deepEqual(metadata.ownerReferences, [
    { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true, blockOwnerDeletion: true },
  ]);
  assert.equal(revision, 3);
});

test('the order of keys is no difference between revisions', () => {
  const revision = revisionOf('a', 1);
  assert.ok(isSameRevision({ ...revision, data: { b: 1, a: 2 } }, { ...revision, data: { a: 2, b: 1 } }));
  assert.ok(!isSameRevision(revision, revisionOf('b', 1)));
});

test('revisions are in the order of number, age and name', () => {
  const make = (name: string, revision: number, creationTimestamp: string) =>
    ({ metadata: { name, creationTimestamp }, revision }) as ControllerRevision;
  const sorted = [
    make('z', 1, '2024-01-03T00:00:00Z'),
    make('y', 2, '2024-01-01T00:00:00Z'),
    make('a', 2, '2024-01-02T00:00:00Z'),
    make('b', 2, '2024-01-02T00:00:00Z'),
  ];
  assert.deepEqual(sorted.toReversed().sort(compareRevisions), sorted);
});

test('the next number is one more than the greatest', () => {
  assert.equal(nextRevisionNumber([]), 1);
  assert.equal(nextRevisionNumber([revisionOf('a', 7), revisionOf('b', 3)]), 8);
});

const none = () => undefined;
const plans = [
  { name: 'makes the first revision', history: [], image: 'a', change: 'create', number: 1 },
  {
    name: 'makes a revision for a new template',
    history: [revisionOf('a', 1)],
    image: 'b',
    change: 'create',
    number: 2,
  },
  {
    name: 'keeps the newest revision',
    history: [revisionOf('b', 2), revisionOf('a', 1)],
    image: 'b',
    change: 'none',
    number: 2,
  },
  {
    name: 'gives an old revision that is back a new number',
    history: [revisionOf('b', 2), revisionOf('a', 1)],
    image: 'a',
    change: 'renumber',
    number: 3,
  },
];
for (const { name, history, image, change, number } of plans) {
  test(`a plan ${name}`, () => {
    const plan = planRevision(owner, {
      history,
      content: content(image),
      collisionCount: undefined,
      findRevision: none,
    });
    assert.deepEqual([plan.change, plan.update.revision, plan.collisionCount], [change, number, 0]);
    assert.equal(plan.update.metadata.name, revisionOf(image, 0).metadata.name);
  });
}

test('a name taken by other data counts as a collision and leads to another name', () => {
  const { name } = revisionOf('a', 1).metadata;
  const findRevision = (asked: string) => (asked === name ? { ...revisionOf('b', 1), metadata: { name } } : undefined);
  const plan = planRevision(owner, { history: [], content: content('a'), collisionCount: 0, findRevision });
  assert.equal(plan.collisionCount, 1);
  assert.equal(plan.change, 'create');
  assert.equal(plan.update.metadata.name, `web-${hashOfData(content('a').data, 1)}`);
  assert.equal(plan.update.metadata.labels?.['controller.kubernetes.io/hash'], hashOfData(content('a').data, 1));
});

test('a revision with the same name and data is taken as it is', () => {
  const occupant = revisionOf('a', 5);
  const plan = planRevision(owner, {
    history: [],
    content: content('a'),
    collisionCount: 0,
    findRevision: () => occupant,
  });
  assert.deepEqual(plan, { update: occupant, change: 'none', collisionCount: 0 });
});

test('a terminating workload creates no revision', () => {
  const leaving = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const plan = planRevision(leaving, { history: [], content: content('a'), collisionCount: 0, findRevision: none });
  assert.equal(plan.change, 'none');
});

test('a plan that was carried out leaves nothing to plan', () => {
  const world = fc.record({
    history: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 }),
    image: fc.constantFrom('a', 'b', 'c', 'd'),
  });
  fc.assert(
    fc.property(world, ({ history: images, image }) => {
      const history = images.map((each, index) => revisionOf(each, index + 1));
      const input = { content: content(image), collisionCount: 0, findRevision: none };
      const { update } = planRevision(owner, { ...input, history });
      const others = history.filter(({ metadata }) => metadata.name !== update.metadata.name);
      const again = planRevision(owner, { ...input, history: [...others, update] });
      assert.deepEqual(again, { update, change: 'none', collisionCount: 0 });
    }),
  );
});

const history = ['a', 'b', 'c', 'd'].map((image, index) => revisionOf(image, index + 1));
const nameOf = (image: string) => revisionOf(image, 0).metadata.name!;
const truncations = [
  { name: 'goes within the limit', inUse: [], limit: 4, gone: [] },
  { name: 'loses its oldest beyond the limit', inUse: [], limit: 2, gone: ['a', 'b'] },
  { name: 'keeps revisions in use, which do not count towards the limit', inUse: ['a', 'd'], limit: 1, gone: ['b'] },
  { name: 'is empty at a limit of zero', inUse: ['b'], limit: 0, gone: ['a', 'c', 'd'] },
];
for (const { name, inUse, limit, gone } of truncations) {
  test(`a history ${name}`, () => {
    const outdated = findRevisionsToPrune(history.toReversed(), { inUse: new Set(inUse.map(nameOf)), limit });
    assert.deepEqual(
      outdated.map(({ metadata }) => metadata.name),
      gone.map(nameOf),
    );
  });
}
