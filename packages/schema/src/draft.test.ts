import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Draft, deepFreeze } from './draft.ts';

type Box = { readonly name: string; readonly sizes: readonly number[]; readonly inner?: { readonly tag: string } };

test('a draft is deeply mutable', () => {
  const draft: Draft<Box> = { name: 'a', sizes: [1] };
  draft.name = 'b';
  draft.sizes.push(2);
  draft.inner = { tag: 'x' };
  draft.inner.tag = 'y';
  const box: Box = draft;
  assert.deepEqual(box, { name: 'b', sizes: [1, 2], inner: { tag: 'y' } });
});

test('a frozen object rejects every mutation', () => {
  const box = deepFreeze({ sizes: [1], inner: { tag: 'x' } });
  assert.throws(() => box.sizes.push(2), TypeError);
  assert.throws(() => {
    box.inner.tag = 'y';
  }, TypeError);
});
