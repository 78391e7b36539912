import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@kruise/values/random';
import { generateName, randomSuffix } from './generated-names.ts';

test('a generated name is its beginning and five safe characters', () => {
  assert.match(generateName(seededRandom(1), 'web-'), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('a long beginning is cut so that the name has 63 characters', () => {
  const name = generateName(seededRandom(1), 'a'.repeat(80));
  assert.equal(name.length, 63);
  assert.ok(name.startsWith('a'.repeat(58)));
});

test('names differ from draw to draw, and repeat with the seed', () => {
  const random = seededRandom(1);
  const names = new Set(Array.from({ length: 1000 }, () => generateName(random, 'a-')));
  assert.ok(names.size > 995);
  assert.equal(randomSuffix(seededRandom(9), 8), randomSuffix(seededRandom(9), 8));
});
