import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '../codec.ts';
import * as s from '../language.ts';

const rules = s.object('example.Role', 'A role.', {
  rules: s.required(1, s.list(s.string()), 'What may be done.'),
  notes: s.optional(2, s.list(s.string()), 'Notes.'),
  limits: s.pointer(3, s.list(s.string()), 'Limits; usual ones where there is nothing.'),
});

test('an empty list that is always written becomes null when it is stored', () => {
  const codec = codecOf(rules);
  const decoded = codec.fromJson({ rules: [], notes: [] });
  assert.deepEqual(decoded, { rules: [] });
  assert.deepEqual(codec.stored(decoded), { rules: null });
  assert.deepEqual(codec.stored(codec.fromJson({ rules: ['a'] })), { rules: ['a'] });
});

test('an empty list that differs from an absent one is kept until it is stored', () => {
  const codec = codecOf(rules);
  const decoded = codec.fromJson({ rules: ['a'], limits: [] });
  assert.deepEqual(decoded, { rules: ['a'], limits: [] });
  assert.deepEqual(codec.decode('{"rules":["a"],"limits":[]}').object, decoded);
  assert.deepEqual(codec.stored(decoded), { rules: ['a'] });
});
