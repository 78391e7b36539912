import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTaints } from './taints.ts';

test('taints are parsed from flag syntax', () => {
  assert.deepEqual(parseTaints('dedicated=web:NoSchedule,gone:NoExecute'), [
    { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
    { key: 'gone', effect: 'NoExecute' },
  ]);
  assert.deepEqual(parseTaints(''), []);
});

test('an invalid taint is rejected', () => {
  for (const text of ['web', 'web:Never', '=x:NoSchedule'])
    assert.throws(() => parseTaints(text), /invalid taint spec/);
});
