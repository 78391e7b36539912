import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelSelector } from './label-selector.ts';
import { selects, validateLabelSelector } from './label-selector.validate.ts';

const expression = (operator: string, values?: readonly string[], key = 'a'): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
});

const validity: readonly (readonly [selector: LabelSelector, fault: string | undefined])[] = [
  [{ matchLabels: { a: 'b' } }, undefined],
  [expression('In', ['b', '']), undefined],
  [expression('Exists'), undefined],
  [
    expression('In'),
    "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [
    expression('Exists', ['b']),
    "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
  ],
  [expression('Like', ['b']), 's.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator'],
];
for (const [selector, fault] of validity) {
  test(`${JSON.stringify(selector)} is ${fault === undefined ? 'a valid' : 'an invalid'} selector`, () => {
    const faults = [...validateLabelSelector(selector, 's')].map(({ field, message }) => `${field}: ${message}`);
    assert.deepEqual(faults, fault === undefined ? [] : [fault]);
  });
}

const matches: readonly (readonly [selector: LabelSelector, labels: { [key: string]: string }, met: boolean])[] = [
  [{}, {}, true],
  [{ matchLabels: { a: 'b' } }, { a: 'b', c: 'd' }, true],
  [{ matchLabels: { a: 'b' } }, { a: 'c' }, false],
  [expression('In', ['b', 'c']), { a: 'c' }, true],
  [expression('In', ['b']), {}, false],
  [expression('NotIn', ['b']), {}, true],
  [expression('Exists'), { a: '' }, true],
  [expression('DoesNotExist'), { a: '' }, false],
  [expression('Exists', undefined, 'toString'), {}, false],
];
for (const [selector, labels, met] of matches) {
  test(`${JSON.stringify(labels)} ${met ? 'match' : 'do not match'} ${JSON.stringify(selector)}`, () => {
    assert.equal(selects(selector, labels), met);
  });
}
