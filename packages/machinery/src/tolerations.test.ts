import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '@kruise/api/core/node';
import type { Toleration } from '@kruise/api/core/toleration';
import { findUntolerated, forbiddingEffects, tolerates } from './tolerations.ts';

const taint: Taint = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' };

const cases: readonly [name: string, toleration: Toleration, tolerated: boolean][] = [
  ['the same key, value and effect', { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }, true],
  ['an explicit Equal operator', { key: 'dedicated', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' }, true],
  ['another value', { key: 'dedicated', value: 'web', effect: 'NoSchedule' }, false],
  ['no value where the taint has one', { key: 'dedicated', effect: 'NoSchedule' }, false],
  ['any value', { key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }, true],
  ['another key', { key: 'other', operator: 'Exists' }, false],
  ['another effect', { key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }, false],
  ['any effect', { key: 'dedicated', value: 'gpu' }, true],
  ['any taint at all', { operator: 'Exists' }, true],
  ['any key with the value', { value: 'gpu' }, true],
];
for (const [name, toleration, tolerated] of cases) {
  test(`a toleration for ${name} ${tolerated ? 'is' : 'is not'} for the taint`, () => {
    assert.equal(tolerates(toleration, taint), tolerated);
  });
}

test('a taint without a value is tolerated by a toleration without one', () => {
  assert.equal(tolerates({ key: 'a' }, { key: 'a', effect: 'NoSchedule' }), true);
});

test('the first taint that is not tolerated is found, of the effects asked for', () => {
  const taints: Taint[] = [
    { key: 'soft', effect: 'PreferNoSchedule' },
    { key: 'borne', effect: 'NoSchedule' },
    { key: 'late', effect: 'NoExecute' },
    taint,
  ];
  assert.equal(findUntolerated(taints, [{ key: 'borne' }], forbiddingEffects)?.key, 'late');
  assert.equal(findUntolerated(taints, [{ operator: 'Exists' }], forbiddingEffects), undefined);
  assert.equal(findUntolerated(taints, undefined, ['PreferNoSchedule'])?.key, 'soft');
  assert.equal(findUntolerated(undefined, undefined, forbiddingEffects), undefined);
});
