import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitSubscript } from './value-source.validate.ts';

const cases = [
  { path: "metadata.labels['app']", parts: ['metadata.labels', 'app'] },
  { path: "metadata.annotations['a']['b']", parts: ['metadata.annotations', "a']['b"] },
  { path: "metadata.labels['']", parts: ['metadata.labels', ''] },
  { path: "metadata.labels[']", parts: undefined },
  { path: "['app']", parts: undefined },
  { path: 'metadata.name', parts: undefined },
];
for (const { path, parts } of cases) {
  test(`${path} is split into ${JSON.stringify(parts)}`, () => assert.deepEqual(splitSubscript(path), parts));
}

test('a subscript is the shortest match of the pattern', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', "['", "']", "'", '[', ']', '\n'), { maxLength: 8 }), (parts) => {
      const path = parts.join('');
      assert.deepEqual(splitSubscript(path), /^(.+?)\['(.*)'\]$/s.exec(path)?.slice(1));
    }),
    { numRuns: 5000 },
  );
});
