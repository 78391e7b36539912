/**
 * Crash-test writer: writes to the store in the given file with several concurrent writers until it is killed, and
 * prints each acknowledged write. `sqlite-crash.test.ts` starts it.
 */
import assert from 'node:assert/strict';
import { systemClock } from '@kruise/values/system';
import { openSqliteStore } from './sqlite.ts';
import { countIn, valueFor } from './sqlite-crash-values.ts';

const [path] = process.argv.slice(2);
assert(path);
const store = await openSqliteStore({ clock: systemClock, path });
const { entries } = await store.range({ prefix: '/' });
const written = new Map(entries.map(({ key, value, modRevision }) => [key, { count: countIn(value), modRevision }]));
for (let writer = 0; writer < 12; writer++) void write(writer);

async function write(writer: number): Promise<void> {
  for (let step = 0; ; step++) {
    const key = `/writer-${writer}/${step % 3}`;
    const { count, modRevision } = written.get(key) ?? { count: 0, modRevision: 0 };
    const next = count + 1;
    const result = await store.write({ key, expected: modRevision, value: valueFor(key, next) });
    assert(result.ok, `conflict on ${key}, which has a single writer`);
    written.set(key, { count: next, modRevision: result.revision });
    process.stdout.write(`${key} ${next} ${result.revision}\n`);
    if (writer === 0 && step % 100 === 99) await store.compact(result.revision);
  }
}
