import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatQuantity, parseQuantity } from '@kruise/values/quantity';
import fc from 'fast-check';
import { evaluate, type Value } from './expression.ts';

const printed = (value: Value) => (typeof value === 'number' ? value : formatQuantity(value));
const bound = (variables: { readonly [name: string]: string | number } = {}) =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, typeof value === 'number' ? value : parseQuantity(value)]),
  );

const values: { text: string; with?: { readonly [name: string]: string | number }; gives: number | string }[] = [
  { text: 'max(cpu*50%,50m)', with: { cpu: '200m' }, gives: '100m' },
  { text: 'max(cpu*50%,50m)', with: { cpu: '60m' }, gives: '50m' },
  { text: 'memory*30%', with: { memory: '600Mi' }, gives: '180Mi' },
  { text: 'max(memory*20% + 100Mi, 200Mi)', with: { memory: '800Mi' }, gives: '260Mi' },
  { text: '0.5 * memory + max(0, memory-2Gi)', with: { memory: '8Gi' }, gives: '10Gi' },
  { text: 'max(min(2*cpu,-cpu+3.0),2*cpu-3.0)', with: { cpu: 1.5 }, gives: 1.5 },
  { text: 'cpu*50% + 100m', with: { cpu: '600m' }, gives: '400m' },
  { text: 'max(40m,20)', gives: '20' },
  { text: 'min(40m,20)', gives: '40m' },
  { text: '2 + 3 * 4', gives: 14 },
  { text: '(2 + 3) * 4', gives: 20 },
  { text: '10 - 2 - 3', gives: 5 },
  { text: '100 / 5 / 2', gives: 10 },
  { text: '10+-5', gives: 5 },
  { text: '10--5', gives: 15 },
  { text: '1e3', gives: 1000 },
  { text: '1e+3', gives: 1000 },
  { text: '.5', gives: 0.5 },
  { text: '50%', gives: 0.5 },
  { text: '5abc', gives: 0 },
  { text: '1 + 5e', gives: 1 },
  { text: ' 1\n+\t1 ', gives: 2 },
  { text: 'CPU * 2', with: { cpu: 3 }, gives: 6 },
  { text: 'MAX(1, 2)', gives: 2 },
  { text: '40m + 1', gives: '1040m' },
  { text: '1 + 40m', gives: '1040m' },
  { text: '1Gi / 4', gives: '256Mi' },
  { text: '3 * 100m', gives: '300m' },
];
for (const { text, with: variables, gives } of values) {
  test(`${JSON.stringify(text)} of ${JSON.stringify(variables ?? {})} is ${gives}`, () => {
    assert.equal(printed(evaluate(text, bound(variables))), gives);
  });
}

const faults: { text: string; expectedMessage: string | RegExp }[] = [
  { text: '2 / 40m', expectedMessage: 'division by quantity' },
  { text: '40m * 2m', expectedMessage: 'multiplication of two quantities' },
  { text: '10/0', expectedMessage: 'division by zero' },
  { text: '1 - 2', expectedMessage: 'calculation result is negative: -1' },
  { text: '1Mi - 2Mi', expectedMessage: 'calculation result is negative: -1Mi' },
  { text: 'disk*2', expectedMessage: 'undefined variable: disk' },
  { text: 'sqrt(2)', expectedMessage: 'unknown function: sqrt' },
  { text: 'max(1)', expectedMessage: 'max function requires exactly 2 arguments, got 1' },
  { text: 'max(disk, 1)', expectedMessage: 'undefined variable: disk' },
  { text: 'disk +', expectedMessage: 'undefined variable: disk' },
  { text: 'cpu *', expectedMessage: 'parse error: syntax error at line 1, col 6' },
  { text: '', expectedMessage: 'parse error: syntax error at line 1, col 1' },
  { text: 'max()', expectedMessage: 'parse error: syntax error at line 1, col 6' },
  { text: 'max(1,2,3)', expectedMessage: 'parse error: syntax error at line 1, col 9' },
  { text: '(2 + 3', expectedMessage: 'parse error: syntax error at line 1, col 7' },
  { text: '2 +\n@', expectedMessage: 'parse error: syntax error at line 2, col 2' },
  { text: '5%%', expectedMessage: /^parse error/ },
  { text: '5..5', expectedMessage: /^parse error/ },
  { text: '+5', expectedMessage: /^parse error/ },
  { text: '1e3m', expectedMessage: /^quantities must match/ },
];
for (const { text, expectedMessage } of faults) {
  test(`${JSON.stringify(text)} is refused: ${expectedMessage}`, () => {
    const message = typeof expectedMessage === 'string' ? expectedMessage : (expectedMessage as RegExp);
    assert.throws(() => evaluate(text, { cpu: 1 }), { name: 'ParseError', message });
  });
}

test('any text evaluates to a value or throws a ParseError', () => {
  const parts = fc.constantFrom(
    'cpu',
    'max(',
    'min(',
    ')',
    '(',
    ',',
    '+',
    '-',
    '*',
    '/',
    '1',
    '.5',
    '3%',
    '2Gi',
    '9e9',
    ' ',
    '@',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (list) => {
      try {
        assert.ok(evaluate(list.join(''), { cpu: parseQuantity('1') }) !== undefined);
      } catch (error) {
        assert.equal((error as Error).name, 'ParseError');
      }
    }),
  );
});
