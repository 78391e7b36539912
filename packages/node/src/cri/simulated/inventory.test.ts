import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInventory, type Selection } from './inventory.ts';

const uid = 'io.kubernetes.pod.uid';
const item = (id: string, labels: { readonly [key: string]: string } = {}) => ({ id, config: { labels } });
const items = [
  item('a1', { [uid]: 'one', tier: 'web' }),
  item('a2', { [uid]: 'one', tier: 'proxy' }),
  item('b1', { [uid]: 'two', tier: 'web' }),
  item('c1'),
  { id: 'd1', config: {} },
];

function inventory() {
  const all = createInventory<{
    readonly id: string;
    readonly config: { labels?: { readonly [key: string]: string } };
  }>();
  for (const each of items) all.add(each);
  return all;
}

const cases: readonly { name: string; selection: Selection; found: readonly string[] }[] = [
  { name: 'everything without a filter', selection: {}, found: ['a1', 'a2', 'b1', 'c1', 'd1'] },
  { name: 'one item by its ID', selection: { id: 'a2' }, found: ['a2'] },
  { name: 'items by an ID prefix', selection: { id: 'a' }, found: ['a1', 'a2'] },
  { name: 'everything by an empty ID', selection: { id: '' }, found: ['a1', 'a2', 'b1', 'c1', 'd1'] },
  { name: 'the items of a Pod', selection: { labelSelector: { [uid]: 'one' } }, found: ['a1', 'a2'] },
  { name: 'nothing of an unknown Pod', selection: { labelSelector: { [uid]: 'three' } }, found: [] },
  { name: 'nothing of an empty Pod UID', selection: { labelSelector: { [uid]: '' } }, found: [] },
  { name: 'items by label', selection: { labelSelector: { tier: 'web' } }, found: ['a1', 'b1'] },
  { name: 'items by Pod and label', selection: { labelSelector: { [uid]: 'one', tier: 'web' } }, found: ['a1'] },
  { name: 'items by ID and Pod', selection: { id: 'a1', labelSelector: { [uid]: 'two' } }, found: [] },
];
for (const { name, selection, found } of cases) {
  test(`finds ${name}`, () => {
    assert.deepEqual(
      inventory()
        .select(selection)
        .map(({ id }) => id),
      found,
    );
  });
}

test('does not find removed items', () => {
  const all = inventory();
  for (const each of items.slice(0, 2)) all.remove(each);
  assert.equal(all.get('a1'), undefined);
  assert.deepEqual(all.select({ labelSelector: { [uid]: 'one' } }), []);
  assert.deepEqual(
    [...all.values()].map(({ id }) => id),
    ['b1', 'c1', 'd1'],
  );
});
