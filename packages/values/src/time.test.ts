import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  canonicalMicroTime,
  canonicalTime,
  formatMicroTime,
  formatTime,
  instantOf,
  parseMicroTime,
  parseTime,
  zeroInstant,
} from './time.ts';

const canonical: readonly (readonly [string, string | null])[] = [
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00Z'],
  ['2024-12-31T12:00:00Z', '2024-12-31T12:00:00Z'],
  ['2024-11-30T12:00:00Z', '2024-11-30T12:00:00Z'],
  ['2024-02-29T12:00:00.999999999Z', '2024-02-29T12:00:00Z'],
  ['2024-02-29T12:00:00,5Z', '2024-02-29T12:00:00Z'],
  ['2024-02-29T23:30:00-01:00', '2024-03-01T00:30:00Z'],
  ['2024-03-01T00:30:00+24:00', '2024-02-29T00:30:00Z'],
  ['2024-01-31T1:02:03Z', '2024-01-31T01:02:03Z'],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
  ['0000-01-01T00:00:00+01:00', '-0001-12-31T23:00:00Z'],
  ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59Z'],
  ['9999-12-31T23:59:59-01:00', '10000-01-01T00:59:59Z'],
  ['0001-01-01T00:00:00Z', null],
  ['0001-01-01T01:00:00+01:00', null],
  ['0001-01-01T00:00:00.5Z', '0001-01-01T00:00:00Z'],
];
for (const [text, expected] of canonical) {
  test(`${text} reads back as ${expected}`, () => assert.equal(canonicalTime(text), expected));
}

const layout = '2006-01-02T15:04:05Z07:00';
const refused: readonly (readonly [string, string])[] = [
  ['', `as "${layout}": cannot parse "" as "2006"`],
  ['yesterday', `as "${layout}": cannot parse "yesterday" as "2006"`],
  ['2024-02-29', `as "${layout}": cannot parse "" as "T"`],
  ['2024-02-29 12:00:00Z', `as "${layout}": cannot parse " 12:00:00Z" as "T"`],
  ['2024-1-31T00:00:00Z', `as "${layout}": cannot parse "1-31T00:00:00Z" as "01"`],
  ['2024-02-29T12:00:00', `as "${layout}": cannot parse "" as "Z07:00"`],
  ['2024-02-29T12:00:00z', `as "${layout}": cannot parse "z" as "Z07:00"`],
  ['2023-02-29T12:00:00Z', 'day out of range'],
  ['2024-04-31T12:00:00Z', 'day out of range'],
  ['2024-02-30T12:00:00Z', 'day out of range'],
  ['2024-13-01T12:00:00Z', 'month out of range'],
  ['2024-01-01T24:00:00Z', 'hour out of range'],
  ['2024-01-01T23:60:00Z', 'minute out of range'],
  ['2024-01-01T23:59:60Z', 'second out of range'],
  ['2024-01-01T23:59:59+25:00', 'time zone offset hour out of range'],
  ['2024-01-01T23:59:59Zé', 'extra text: "\\xc3\\xa9"'],
];
for (const [text, reason] of refused) {
  test(`${JSON.stringify(text)} is refused: ${reason}`, () => {
    const shown = text.replace('é', '\\xc3\\xa9');
    const separator = reason.startsWith('as ') ? ' ' : ': ';
    assert.throws(() => parseTime(text), {
      name: 'ParseError',
      message: `parsing time "${shown}"${separator}${reason}`,
    });
  });
}

test('a time to the microsecond has six digits, no more and no fewer', () => {
  assert.equal(canonicalMicroTime('2024-02-29T12:00:00.123456+01:00'), '2024-02-29T11:00:00.123456Z');
  assert.equal(canonicalMicroTime('9999-07-15T01:03:55.710486Z'), '9999-07-15T01:03:55.710486Z');
  assert.equal(canonicalMicroTime('0001-01-01T00:00:00.000000Z'), null);
  assert.throws(() => parseMicroTime('2024-02-29T12:00:00Z'), /cannot parse "Z" as "\.000000"/);
  assert.throws(() => parseMicroTime('2024-02-29T12:00:00.1234567Z'), /cannot parse "7Z" as "Z07:00"/);
});

test('an instant is printed as the second it is in', () => {
  assert.equal(formatTime(1999), '1970-01-01T00:00:01Z');
  assert.equal(formatTime(-1), '1969-12-31T23:59:59Z');
  assert.equal(formatMicroTime(-0.001), '1969-12-31T23:59:59.999999Z');
  assert.equal(formatTime(zeroInstant), '0001-01-01T00:00:00Z');
  assert.equal(instantOf(1, 1, 1), zeroInstant);
});

test('a formatted time parses to the same value', () => {
  const seconds = fc.integer({ min: Date.parse('0000-01-01') / 1000, max: Date.parse('9999-12-31') / 1000 });
  fc.assert(
    fc.property(seconds, (second) => {
      assert.equal(parseTime(formatTime(second * 1000)), second * 1000);
      assert.equal(formatTime(second * 1000), canonicalTime(formatTime(second * 1000)) ?? '0001-01-01T00:00:00Z');
    }),
  );
  const microseconds = fc.integer({ min: 0, max: 4_000_000_000_000_000 });
  fc.assert(
    fc.property(microseconds, (microsecond) => {
      const text = formatMicroTime(microsecond / 1000);
      assert.equal(formatMicroTime(parseMicroTime(text)), text);
    }),
  );
});
