import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noChildren } from './children.ts';
import { emptySet } from './field-set.ts';

const gathered = (...elements: readonly string[]) =>
  elements.reduce((children, element) => children.with(element, emptySet), noChildren());

test('the same children make the same node', () => {
  const node = gathered('f:b', 'f:a').node(true)!;
  assert.deepEqual(Object.keys(node), ['.', 'f:a', 'f:b']);
  assert.equal(gathered('f:b', 'f:a').node(true), node);
  assert.deepEqual(gathered('f:b', 'f:a').node(false), { 'f:a': {}, 'f:b': {} });
});

test('what begins alike may go on in different ways', () => {
  const ways = [gathered('f:a', 'f:b'), gathered('f:a', 'f:c'), gathered('f:a', 'f:d')];
  assert.deepEqual(
    ways.map((way) => Object.keys(way.node(false)!).join()),
    ['f:a,f:b', 'f:a,f:c', 'f:a,f:d'],
  );
  assert.equal(gathered('f:a', 'f:d'), ways[2]);
  const other = noChildren().with('f:a', gathered('f:x').node(false)!);
  assert.deepEqual(other.node(false), { 'f:a': { 'f:x': {} } });
});

test('of two children with the same step the later one stays', () => {
  const children = gathered('f:a', 'f:b').with('f:a', gathered('f:x').node(false)!);
  assert.deepEqual(children.node(false), { 'f:a': { 'f:x': {} }, 'f:b': {} });
  assert.deepEqual(children.get('f:a'), { 'f:x': {} });
  assert.equal(children.get('f:c'), undefined);
});

test('without children a node is in the set, or there is none', () => {
  assert.equal(noChildren().node(true), emptySet);
  assert.equal(noChildren().node(false), undefined);
});

test('what was remembered is forgotten some day, and nothing is lost by that', () => {
  const first = gathered('f:kept').node(true)!;
  for (let index = 0; index < 20_000; index++) gathered(`f:${index}`);
  const again = gathered('f:kept').node(true)!;
  assert.notEqual(again, first);
  assert.deepEqual(again, first);
});
