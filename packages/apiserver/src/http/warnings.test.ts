import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestContext } from '../context.ts';
import { warningHeaders } from './warnings.ts';

function textsOf(warnings: readonly string[]): readonly string[] {
  // Only the warnings of a request are read.
  const { warning = [] } = warningHeaders({ warnings: new Set(warnings) } as unknown as RequestContext);
  return [warning].flat().map((header) => /^299 - "(.*)"$/.exec(header)![1]!);
}

const numbered = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `${index} `.padEnd(length, 'x'));

test('warnings within the limit are complete', () => {
  assert.deepEqual(textsOf(numbered(4, 1024)), numbered(4, 1024));
});

test('warnings beyond the limit are truncated, including the earlier ones', () => {
  assert.deepEqual(
    textsOf(numbered(5, 1024)).map(({ length }) => length),
    [256, 256, 256, 256, 256],
  );
});

test('the number of warnings is bounded', () => {
  const sent = textsOf(numbered(100_000, 300));
  assert.equal(sent.length, 16);
  assert.ok(sent.every(({ length }) => length === 256));
  assert.ok(textsOf(numbered(100_000, 8)).length < 600);
});

test('truncation does not split a character', () => {
  const [first] = textsOf(['😀'.repeat(5000)]);
  assert.equal(Buffer.from(first!, 'latin1').toString(), '😀'.repeat(256));
});
