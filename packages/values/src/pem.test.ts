import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pemBlocks } from './pem.ts';

const block = (type: string, content: string) => `-----BEGIN ${type}-----\n${content}\n-----END ${type}-----`;

const cases = [
  { name: 'a text without boundaries has no blocks', text: 'hello', blocks: [] },
  { name: 'blocks are read in order', text: `${block('A', 'x')}\n${block('B', 'y')}\n`, blocks: ['A: x', 'B: y'] },
  { name: 'text around blocks is ignored', text: `note\n${block('A', 'x')}\nnote`, blocks: ['A: x'] },
  { name: 'lines may end with a carriage return', text: block('A', 'x').replaceAll('\n', '\r\n'), blocks: ['A: x'] },
  { name: 'a block without an end is skipped', text: '-----BEGIN A-----\nx\n', blocks: [] },
  {
    name: 'a block that ends with another label is skipped',
    text: `-----BEGIN A-----\n${block('B', 'y')}`,
    blocks: ['B: y'],
  },
  {
    name: 'a label that is not closed on its line is skipped',
    text: `-----BEGIN A\n${block('B', 'y')}`,
    blocks: ['B: y'],
  },
  { name: 'headers are part of the content', text: block('A', 'k: v\n\nx'), blocks: ['A: k: v\n\nx'] },
];
for (const { name, text, blocks } of cases) {
  test(name, () => {
    assert.deepEqual(
      pemBlocks(text).map(({ type, content }) => `${type}: ${content}`),
      blocks,
    );
  });
}

test('the text of a block is what stands between its boundaries, with them', () => {
  assert.deepEqual(
    pemBlocks(`before\n${block('A', 'x')}after`).map(({ text }) => text),
    [block('A', 'x')],
  );
});

test('many labels without an end take linear time', () => {
  const elapsed = (count: number) => {
    const text = '-----BEGIN A-----\n'.repeat(count);
    const startedAt = performance.now();
    pemBlocks(`${text}-----END B-----`);
    return performance.now() - startedAt;
  };
  // Three megabytes. Quadratic time would be minutes.
  assert.ok(elapsed(160_000) < 5000);
});
