import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from './definitions.ts';
import { documentText } from './document-text.ts';
import { runSteps, type Steps } from './steps.ts';

/** Returns the result and the number of steps. */
function counted<T>(steps: Steps<T>): { readonly result: T; readonly count: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { result: step.value, count };
  }
}

test('a document has the text of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })), (document) => {
      assert.equal(runSteps(documentText(document as Json)), JSON.stringify(document));
    }),
  );
});

test('a member without a value is left out', () => {
  const document = { first: undefined, paths: { '/a': undefined, '/b': { get: undefined } }, last: undefined };
  assert.equal(runSteps(documentText(document)), JSON.stringify(document));
});

test('the text of a large document is written in steps of 32 members', () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`n-${index}`, {}]));
  assert.equal(counted(documentText({ definitions: entries(31) })).count, 1);
  assert.equal(counted(documentText({ definitions: entries(320) })).count, 11);
  assert.equal(counted(documentText({ components: { schemas: entries(320) } })).count, 11);
});
