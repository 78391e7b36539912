import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParseError } from '@kruise/values/parse-error';
import { partitionReplicas, scaledValue, wholePercentValue } from './percent.ts';

test('a percentage may have a fraction, and is rounded as requested', () => {
  assert.equal(scaledValue('33.3%', 10, Math.ceil), 4);
  assert.equal(scaledValue('33.3%', 10, Math.floor), 3);
  assert.equal(scaledValue(7, 10, Math.ceil), 7);
});

for (const text of ['5', 'x%', '%', '1,5%', '']) {
  test(`'${text}' is not a percentage`, () => {
    assert.throws(() => scaledValue(text, 10, Math.ceil), ParseError);
  });
}

const legacy: { value: number | string; expected: number }[] = [
  { value: 3, expected: 3 },
  { value: '30%', expected: 3 },
  { value: '30', expected: 3 },
  { value: '33.3%', expected: 0 },
  { value: 'few', expected: 0 },
];
for (const { value, expected } of legacy) {
  test(`where only whole percentages count, ${value} of 10 is ${expected}`, () => {
    assert.equal(wholePercentValue(value, 10, Math.floor), expected);
  });
}

const partitions: { partition: number | string | undefined; replicas: number; expected: number }[] = [
  { partition: undefined, replicas: 5, expected: 0 },
  { partition: 3, replicas: 5, expected: 3 },
  { partition: 9, replicas: 5, expected: 5 },
  { partition: -1, replicas: 5, expected: 0 },
  { partition: '99%', replicas: 5, expected: 4 },
  { partition: '99%', replicas: 1, expected: 1 },
  { partition: '100%', replicas: 5, expected: 5 },
  { partition: '1%', replicas: 5, expected: 1 },
  { partition: '0%', replicas: 5, expected: 0 },
];
for (const { partition, replicas, expected } of partitions) {
  test(`a partition of ${partition} keeps ${expected} of ${replicas} Pods back`, () => {
    assert.equal(partitionReplicas(partition, replicas), expected);
  });
}
