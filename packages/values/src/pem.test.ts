import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pem, pemBlocks, pemBytes } from './pem.ts';

const labels = (text: string) => Array.from(pemBlocks(text), ({ label }) => label);
const block = (label: string) => pem(label, Buffer.from('content'));

test('blocks come in the order of the text, without the text between them', () => {
  const text = `before\n${block('A')}between\n${block('B B')}after`;
  assert.deepEqual(labels(text), ['A', 'B B']);
  assert.equal(pemBytes('B B', text).toString(), 'content');
});

test('a block without its end, or with the end of another, is ignored', () => {
  assert.deepEqual(labels(`-----BEGIN A-----\nAAAA\n${block('B')}`), ['B']);
  assert.deepEqual(labels(`-----BEGIN A-----\nAAAA\n-----END C-----\n${block('B')}`), ['B']);
  assert.deepEqual(labels('-----BEGIN A-----\nAAAA'), []);
  assert.deepEqual(labels('-----BEGIN '), []);
});

test('a label that is not in the text is an error', () => {
  assert.throws(() => pemBytes('A', block('B')), /no A in PEM text/);
});

// A second is far more than two megabytes need in linear time, and far less than they need in quadratic time.
for (const part of ['-----BEGIN A-----\n', '-----BEGIN ', '-----BEGIN A-----\n-----END B-----\n', '-----']) {
  test(`two megabytes of ${JSON.stringify(part)} are read at once`, { timeout: 5000 }, () => {
    const began = performance.now();
    assert.deepEqual(labels(part.repeat(Math.ceil(2e6 / part.length))), []);
    assert.ok(performance.now() - began < 1000);
  });
}
