import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoize, memoizeByObject, memoizeInReconcile } from './memoize.ts';

function counted() {
  let count = 0;
  const of = memoize((text) => ({ text, number: ++count }), { maxLength: 8 });
  return { of, count: () => count };
}

test('works a text out once', () => {
  const { of, count } = counted();
  assert.equal(of('a'), of('a'));
  assert.equal(of('b').text, 'b');
  assert.equal(count(), 2);
});

test('works a long text out each time', () => {
  const { of, count } = counted();
  assert.deepEqual([of('12345678').number, of('12345678').number], [1, 1]);
  assert.deepEqual([of('123456789').number, of('123456789').number], [2, 3]);
  assert.equal(count(), 3);
});

test('remembers no more than so many', () => {
  const { of, count } = counted();
  const first = of('0');
  for (let index = 1; index < 4096; index++) of(String(index));
  assert.equal(of('0'), first);
  of('one more');
  assert.notEqual(of('0'), first);
  assert.equal(count(), 4098);
});

test('failures are not memoized', () => {
  let isBroken = true;
  const of = memoize(
    (text) => {
      if (isBroken) throw new Error(text);
      return text;
    },
    { maxLength: 8 },
  );
  assert.throws(() => of('a'));
  isBroken = false;
  assert.equal(of('a'), 'a');
});

for (const [name, memoizer] of [
  ['memoizeByObject', memoizeByObject],
  ['memoizeInReconcile', memoizeInReconcile],
] as const) {
  test(`${name} computes once for each object, not for equal objects`, () => {
    let calls = 0;
    const sizeOf = memoizer((object: { readonly list: readonly number[] }) => {
      calls++;
      return object.list.length;
    });
    const object = { list: [1, 2] };
    assert.deepEqual([sizeOf(object), sizeOf(object), sizeOf({ list: [1, 2] })], [2, 2, 2]);
    assert.equal(calls, 2);
  });
}

test('memoizeByObject keeps the result undefined', () => {
  let calls = 0;
  const find = memoizeByObject(() => void calls++);
  const object = {};
  assert.deepEqual([find(object), find(object), calls], [undefined, undefined, 1]);
});
