import assert from 'node:assert/strict';
import { test } from 'node:test';
import { templateHash } from './template-hash.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'b' }] } };

test('a hash stays what it is', () => {
  assert.equal(templateHash(template), '7f78bd9cfd');
  assert.equal(templateHash(template, 1), 'cf7bd6b7');
});

test('a hash does not depend on the order of fields', () => {
  assert.equal(templateHash({ spec: template.spec, metadata: template.metadata }), templateHash(template));
});

test('a hash depends on the template, and on how often its name was taken', () => {
  const hashes = [
    templateHash(template),
    templateHash({ ...template, spec: { containers: [] } }),
    templateHash(template, 0),
    templateHash(template, 1),
    templateHash(template, 256),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
});

test('a hash is fit for a name and a label', () =>
  assert.match(templateHash(template), /^[bcdf-hj-np-tv-xz2456789]{1,10}$/));
