import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantOfNanoseconds, nanosecondsOf } from './nanoseconds.ts';

test('a time survives the conversion to nanoseconds and back', () => {
  const instant = Date.UTC(2026, 10, 15, 9, 22, 2, 123);
  assert.equal(nanosecondsOf(instant), 1_794_734_522_123_000_000n);
  assert.equal(instantOfNanoseconds(nanosecondsOf(instant)), instant);
});

test('the conversion drops fractions of a microsecond', () => {
  assert.equal(instantOfNanoseconds(1_500_999n), 1.5);
});
