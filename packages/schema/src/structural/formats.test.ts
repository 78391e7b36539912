import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCheck } from './formats.ts';

const examples: { readonly [format: string]: { readonly good: readonly string[]; readonly bad: readonly string[] } } = {
  date: { good: ['2024-02-29', '0000-01-01'], bad: ['2023-02-29', '2024-13-01', '2024-1-1', '2024-01-01 ', ''] },
  'date-time': {
    good: ['2024-01-01T00:00:00Z', '2024-01-01t23:59:59.123+01:00'],
    bad: ['2024-01-01', '2024-01-01T00:00:60Z', '2024-01-01T24:00:00Z', '2024-01-01T00:00:00'],
  },
  duration: { good: ['1h30m', '0', '2 days', '1 Week', '3 µs', '-1.5h'], bad: ['', 'soon', '5 parsecs', '1'] },
  ipv4: { good: ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'], bad: ['1.2.3', '::1', '256.1.1.1'] },
  ipv6: { good: ['::1', '2001:db8::1', '::ffff:1.2.3.4'], bad: ['1.2.3.4', 'fe80::1%eth0', ':::'] },
  cidr: { good: ['10.0.0.0/8', '010.0.0.0/8', '::/0'], bad: ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/8/8'] },
  uri: {
    good: ['https://example.com/a%20b?q=%', '/path', 'urn:isbn:1', 'http://[::1]:80/', '*', 'http://u:p@h'],
    bad: ['', 'path', 'not % it', 'http://h/%zz', 'http://h:port/', 'http://a b/', 'http://h/\n'],
  },
  email: {
    good: ['a@example.com', 'A B <a@b.c>', '"x y"@b.c', 'a@[1.2.3.4]', 'a@b'],
    bad: ['', 'a', 'a@', '@b', 'a b@c', 'a@b@c', '<a@b', 'a@b,c@d', '.a@b', 'a..b@c'],
  },
  hostname: {
    good: ['a', 'a.example.com', '1a.example.com', 'é.fr'],
    bad: ['', '-a.com', 'a_b.com', 'a.c', `${'a'.repeat(64)}.com`],
  },
  mac: {
    good: ['00:00:5e:00:53:01', '00-00-5E-00-53-01', '0000.5e00.5301'],
    bad: ['00:00:5e:00:53', '00:00-5e:00:53:01'],
  },
  uuid: { good: ['12345678-1234-1234-1234-123456789ABC', '12345678123412341234123456789abc'], bad: ['12345678-1234'] },
  uuid3: { good: ['12345678-1234-3234-1234-123456789abc'], bad: ['12345678-1234-4234-1234-123456789abc'] },
  uuid4: { good: ['12345678-1234-4234-8234-123456789abc'], bad: ['12345678-1234-4234-7234-123456789abc'] },
  uuid5: { good: ['12345678-1234-5234-b234-123456789abc'], bad: ['12345678-1234-4234-b234-123456789abc'] },
  isbn: { good: ['0321751043', '978-0321751041'], bad: ['0321751044', '978-0321751042', '12'] },
  isbn10: { good: ['0-8044-2957-X'], bad: ['978-0321751041'] },
  isbn13: { good: ['978-0321751041'], bad: ['0321751043'] },
  creditcard: { good: ['4111 1111 1111 1111', '371449635398431'], bad: ['4111 1111 1111 1112', '1234'] },
  ssn: { good: ['123-45-6789', '123 45 6789'], bad: ['123456789', '12-345-6789'] },
  hexcolor: { good: ['#fff', 'A1b2C3'], bad: ['#ffff', 'red'] },
  rgbcolor: { good: ['rgb(0, 10,255)'], bad: ['rgb(256,0,0)', 'rgb(0,0)', 'rgb(00,0,0)'] },
  byte: { good: ['YQ==', 'YWJj'], bad: ['', 'YQ=', 'Y-Q='] },
  bsonobjectid: { good: ['507f1f77bcf86cd799439011'], bad: ['507f1f77bcf86cd79943901'] },
  password: { good: ['', 'anything'], bad: [] },
};
for (const [format, { good, bad }] of Object.entries(examples)) {
  const isFormat = formatCheck(format)!;
  for (const text of good) test(`${JSON.stringify(text)} is of format ${format}`, () => assert.ok(isFormat(text)));
  for (const text of bad) test(`${JSON.stringify(text)} is not of format ${format}`, () => assert.ok(!isFormat(text)));
}

test('an unknown format is not checked', () => assert.equal(formatCheck('telephone'), undefined));
test('the formats of numbers are not checked', () => assert.equal(formatCheck('int32'), undefined));
test('dashes in the name of a format do not matter', () =>
  assert.equal(formatCheck('datetime'), formatCheck('date-time')));

test('a duration with many digits is rejected in linear time', () => {
  const isDuration = formatCheck('duration')!;
  const before = process.cpuUsage().user;
  for (const text of ['1'.repeat(200_000), `${'0'.repeat(200_000)}x`, '1 '.repeat(100_000)]) isDuration(text);
  assert.equal(isDuration(`${'9'.repeat(200_000)} days`), false);
  assert.equal(isDuration(`${'0'.repeat(30)}2 days`), true);
  assert.ok(process.cpuUsage().user - before < 1_000_000);
});
