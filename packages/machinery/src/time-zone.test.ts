import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromLocal, timeZone, toLocal, utc } from './time-zone.ts';

const newYork = timeZone('America/New_York');
const hourMs = 3_600_000;

test('an offset is that of the instant', () => {
  assert.equal(newYork.offsetAt(Date.parse('2024-03-10T06:59:59Z')), -5 * hourMs);
  assert.equal(newYork.offsetAt(Date.parse('2024-03-10T07:00:00Z')), -4 * hourMs);
  assert.equal(timeZone('Africa/Monrovia').offsetAt(0), -(44 * 60 + 30) * 1000);
  assert.equal(timeZone('Asia/Kolkata').offsetAt(0), 5.5 * hourMs);
});

test('a zone is known by its name alone, in its own case', () => {
  assert.equal(timeZone(''), utc);
  assert.equal(timeZone('UTC'), utc);
  assert.equal(timeZone('US/Pacific').offsetAt(0), -8 * hourMs);
  for (const name of ['america/new_york', 'Mars/Olympus', '+01:00', 'utc']) {
    assert.throws(() => timeZone(name), { name: 'ParseError', message: `unknown time zone ${name}` });
  }
  assert.throws(() => timeZone('../etc'), { message: 'time: invalid location name' });
});

test('a local time that clocks skip is an hour off, one that they repeat is the first', () => {
  assert.equal(fromLocal(newYork, 2024, 3, 10, 2, 30), Date.parse('2024-03-10T06:30:00Z'));
  assert.equal(fromLocal(newYork, 2024, 11, 3, 1, 30), Date.parse('2024-11-03T05:30:00Z'));
});

test('months and days run on beyond their ends', () => {
  assert.equal(fromLocal(utc, 2024, 13, 32), Date.parse('2025-02-01T00:00:00Z'));
});

test('every instant comes back from its local time, but for hours that are repeated', () => {
  const zones = ['America/New_York', 'Europe/London', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Chatham'];
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 200_000_000, max: 2_000_000_000 }), (name, second) => {
      const zone = timeZone(name);
      const { year, month, day, hour, minute, second: shown } = toLocal(zone, second * 1000);
      const back = fromLocal(zone, year, month, day, hour, minute, shown);
      assert.ok(Math.abs(back - second * 1000) <= hourMs);
      assert.deepEqual(toLocal(zone, back), toLocal(zone, second * 1000));
    }),
  );
});
