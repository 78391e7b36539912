import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeatureGateError, parseGates, resolveGates } from './feature-gates.ts';

const gates = {
  Young: { default: false, stage: 'Alpha' },
  Grown: { default: true, stage: 'Beta' },
  Shy: { default: false, stage: 'Beta' },
} as const;

const rows: readonly (readonly [text: string, open: string])[] = [
  ['', 'Grown'],
  ['Young=true', 'Young Grown'],
  ['Grown=false', ''],
  ['AllAlpha=true', 'Young Grown'],
  ['AllBeta=true', 'Grown Shy'],
  ['AllBeta=false', ''],
  ['AllBeta=true,Shy=false', 'Grown'],
  ['Shy=false,AllBeta=true', 'Grown'],
  [' Young = T , ,', 'Young Grown'],
];
for (const [text, open] of rows) {
  test(`with ${text || 'no flag'}, ${open || 'none'} of the gates is enabled`, () => {
    const settled = resolveGates(gates, parseGates(gates, text));
    const found = Object.entries(settled).flatMap(([name, isOpen]) => (isOpen ? [name] : []));
    assert.equal(found.join(' '), open);
  });
}

const refused: readonly (readonly [text: string, message: string])[] = [
  ['Old=true', 'unrecognized feature gate: Old'],
  ['toString=true', 'unrecognized feature gate: toString'],
  ['Young', 'missing bool value for Young'],
  ['Young=maybe', 'invalid value of Young=maybe'],
];
for (const [text, message] of refused) {
  test(`${text} is rejected`, () => {
    assert.throws(
      () => parseGates(gates, text),
      (error) => error instanceof FeatureGateError && error.message === message,
    );
  });
}
