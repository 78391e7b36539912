import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTaints } from './taints.ts';

test('taints are read as flags have them', () => {
  assert.deepEqual(parseTaints('dedicated=web:NoSchedule,gone:NoExecute'), [
    { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
    { key: 'gone', effect: 'NoExecute' },
  ]);
  assert.deepEqual(parseTaints(''), []);
});

test('what is no taint is told', () => {
  for (const text of ['web', 'web:Never', '=x:NoSchedule'])
    assert.throws(() => parseTaints(text), /invalid taint spec/);
});
