import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { textChunks } from './text-chunks.ts';

const anyText = fc.record({
  unit: fc.constantFrom('a', 'é', '語', '🙂'),
  count: fc.oneof(fc.nat(20), fc.integer({ min: 100_000, max: 300_000 })),
});

test('the chunks are the bytes of all texts, each valid until the next but one is requested', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyText, { maxLength: 4 }), { maxLength: 6 }), (lists) => {
      const texts = lists.map((list) => list.map(({ unit, count }) => unit.repeat(count)));
      const copied: Buffer[] = [];
      let before: Buffer | undefined;
      for (const piece of textChunks(texts)) {
        if (before) assert.ok(before.equals(copied.at(-1)!));
        copied.push(Buffer.from(piece));
        before = piece;
      }
      assert.ok(Buffer.concat(copied).equals(Buffer.from(texts.flat().join(''))));
    }),
    { numRuns: 60 },
  );
});

test('no texts yield no chunks', () => {
  assert.deepEqual([...textChunks([])], []);
});
