import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { dynamicKind } from '@kruise/client/dynamic-kind';
import fc from 'fast-check';
import { createGraph } from './graph.ts';

const box = dynamicKind({ group: 'example.com', version: 'v1', kind: 'Box', plural: 'boxes', scope: 'Namespaced' });
const bag = dynamicKind({ group: 'example.com', version: 'v1', kind: 'Bag', plural: 'bags', scope: 'Namespaced' });

type Extra = Partial<ObjectMeta> & { readonly owners?: readonly string[]; readonly loose?: boolean };

/** Returns an object named like its UID; owners are boxes, and blocked unless `loose`. */
function object(uid: string, { owners = [], loose = false, ...metadata }: Extra = {}): ObjectMeta {
  const ownerReferences = owners.map((owner) => ({
    apiVersion: 'example.com/v1',
    kind: 'Box',
    name: owner,
    uid: owner,
    blockOwnerDeletion: !loose,
  }));
  return { uid, name: uid, namespace: 'default', ownerReferences, ...metadata };
}
const waiting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] };

function createWorld() {
  let heard: string[] = [];
  const graph = createGraph({
    enqueue: (uid) => heard.push(uid),
    unobserved: (uid) => heard.push(`unseen ${uid}`),
    deleted: ({ uid }) => heard.push(`gone ${uid}`),
    invalidReference: ({ uid }, reference) => heard.push(`misplaced ${uid} by ${reference.uid}`),
  });
  return {
    graph,
    see: (uid: string, extra?: Extra) => graph.observe(box, object(uid, extra)),
    heard() {
      const before = heard;
      heard = [];
      return before;
    },
  };
}

test('an unobserved owner is verified once it is referenced', () => {
  const { see, heard } = createWorld();
  see('child', { owners: ['parent'] });
  assert.deepEqual(heard(), ['unseen parent']);
  see('parent');
  assert.deepEqual(heard(), [], 'the observed owner matches the reference');
});

test('an object with an observed owner is not enqueued', () => {
  const { see, heard } = createWorld();
  see('parent');
  see('child', { owners: ['parent'] });
  see('child', { owners: ['parent'], labels: { a: 'b' } });
  assert.deepEqual(heard(), []);
});

test('all dependents are enqueued when their owner is deleted', () => {
  const { graph, see, heard } = createWorld();
  see('parent');
  see('a', { owners: ['parent'] });
  see('b', { owners: ['parent'] });
  graph.remove('parent');
  assert.deepEqual(heard(), ['gone parent', 'a', 'b']);
  graph.remove('parent');
  graph.remove('never');
  assert.deepEqual(heard(), []);
});

test('the dependents of a waiting owner are enqueued, and the owner when the last blocking one is gone', () => {
  const { graph, see, heard } = createWorld();
  see('parent');
  see('a', { owners: ['parent'] });
  see('b', { owners: ['parent'] });
  see('c', { owners: ['parent'], loose: true });
  see('parent', waiting);
  assert.deepEqual(heard(), ['a', 'b', 'c', 'parent']);
  graph.remove('a');
  assert.deepEqual(heard(), []);
  see('b', { owners: ['parent'], loose: true });
  assert.deepEqual(heard(), ['parent'], 'the dependent does not block any more');
  see('late', { owners: ['parent'] });
  assert.deepEqual(heard(), ['late'], 'a dependent that is added later is enqueued, too');
});

test('an object that owns itself does not block itself', () => {
  const { graph, see, heard } = createWorld();
  see('self', { owners: ['self'] });
  see('self', { owners: ['self'], ...waiting });
  assert.ok(heard().includes('self'));
  assert.deepEqual({ ...graph.dependentsOf('self') }, { count: 1, blocking: 0, isOneWaiting: true, isCircular: false });
  graph.remove('self');
  assert.equal(graph.size, 0);
});

test('a cycle counts only if all its members wait and block', () => {
  const { graph, see } = createWorld();
  const isCircular = () => ['a', 'b', 'c'].map((uid) => graph.dependentsOf(uid).isCircular).join(' ');
  see('a', { owners: ['c'], ...waiting });
  see('b', { owners: ['a'], ...waiting });
  see('c', { owners: ['b'] });
  see('beside', { owners: ['a'], ...waiting });
  assert.equal(isCircular(), 'false false false');
  see('c', { owners: ['b'], ...waiting });
  assert.equal(isCircular(), 'true true true');
  assert.equal(graph.dependentsOf('beside').isCircular, false);
  see('b', { owners: ['a'], loose: true, ...waiting });
  assert.equal(isCircular(), 'false false false');
});

test('a reference with another name, kind or namespace is enqueued, in any order of observation', () => {
  const { graph, see, heard } = createWorld();
  const wrong = (uid: string, change: object, namespace = 'default') => {
    const [reference] = object(uid, { owners: ['parent'] }).ownerReferences!;
    graph.observe(box, object(uid, { namespace, ownerReferences: [{ ...reference!, ...change }] }));
  };
  wrong('early', { name: 'misnamed' });
  see('parent');
  assert.deepEqual(heard(), ['unseen parent', 'early']);
  wrong('named', { name: 'misnamed' });
  wrong('kind', { kind: 'Bag' });
  wrong('place', {}, 'elsewhere');
  wrong('version', { apiVersion: 'example.com/v2' });
  assert.deepEqual(heard(), ['named', 'kind', 'misplaced place by parent', 'place']);
});

test('a list of a kind removes missing objects, and nothing of other kinds', () => {
  const { graph, see, heard } = createWorld();
  see('parent');
  see('other');
  graph.observe(bag, object('child', { owners: ['parent'] }));
  graph.replace(box, [{ metadata: object('other') }]);
  assert.deepEqual(heard(), ['gone parent', 'child']);
  assert.deepEqual([graph.get('parent'), graph.get('child')?.uid], [undefined, 'child']);
});

test('an emptied graph keeps nothing', () => {
  const { graph, see } = createWorld();
  for (let index = 0; index < 100; index++)
    see(`n${index}`, { owners: [`n${(index * 7) % 100}`, `n${(index * 3) % 100}`] });
  for (let index = 0; index < 100; index++) graph.remove(`n${index}`);
  assert.equal(graph.size, 0);
  for (let index = 0; index < 100; index++) assert.deepEqual([...graph.referringTo(`n${index}`)], []);
});

test('an owner with very many dependents is enqueued once, when the last of them is gone', () => {
  const { graph, see, heard } = createWorld();
  const many = 10_000;
  see('parent');
  for (let index = 0; index < many; index++) see(`n${index}`, { owners: ['parent'] });
  see('parent', waiting);
  heard();
  for (let index = 0; index < many; index++) graph.remove(`n${index}`);
  assert.deepEqual(heard(), ['parent']);
});

test('after any changes, the dependents of an owner are the objects that refer to it', () => {
  const uid = fc.constantFrom('a', 'b', 'c', 'd');
  const event = fc.record({
    uid,
    owners: fc.uniqueArray(uid, { maxLength: 3 }),
    loose: fc.boolean(),
    isRemoval: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const { graph, see } = createWorld();
      const expected = new Map<string, { owners: readonly string[]; loose: boolean }>();
      for (const { uid: each, owners, loose, isRemoval } of events) {
        if (isRemoval) {
          graph.remove(each);
          expected.delete(each);
        } else {
          see(each, { owners, loose });
          expected.set(each, { owners, loose });
        }
      }
      for (const owner of ['a', 'b', 'c', 'd']) {
        const referring = [...expected].filter(([, { owners }]) => owners.includes(owner));
        const blocking = referring.filter(([name, { loose }]) => !loose && name !== owner);
        assert.deepEqual(
          [...graph.referringTo(owner)].map((node) => node.uid).sort(),
          referring.map(([name]) => name).sort(),
        );
        const { count, blocking: counted } = graph.dependentsOf(owner);
        assert.deepEqual([count, counted], [referring.length, blocking.length]);
      }
    }),
  );
});
