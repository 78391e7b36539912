import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { openSqliteStore } from './sqlite.ts';
import { countIn, valueFor } from './sqlite-crash-values.ts';

const rounds = Number(process.env['STORE_CRASH_ROUNDS'] ?? 20);
const directory = mkdtempSync(join(tmpdir(), 'kruise-store-crash-'));
const path = join(directory, 'store.db');
let child: ChildProcess | undefined;
after(() => {
  child?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

type Acknowledged = { readonly count: number; readonly revision: number };

/** Returns the writes that a process acknowledged before it was killed at a random time. */
async function writeUntilKilled(writes = randomInt(1, 600)): Promise<Map<string, Acknowledged>> {
  const writer = join(import.meta.dirname, 'sqlite-crash-writer.ts');
  child = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const acknowledged = new Map<string, Acknowledged>();
  let untilKill = writes;
  for await (const line of createInterface({ input: child.stdout! })) {
    const [key, count, revision] = line.split(' ');
    // The last line may be incomplete.
    if (revision) acknowledged.set(key!, { count: Number(count), revision: Number(revision) });
    if (--untilKill === 0) child.kill('SIGKILL');
  }
  const [, signal] = await exited;
  assert.equal(signal, 'SIGKILL');
  return acknowledged;
}

test(`a process killed ${rounds} times while it writes loses no acknowledged write and leaves no partial write`, async () => {
  let newest = 1;
  for (let round = 0; round < rounds; round++) {
    const acknowledged = await writeUntilKilled();
    // A successful open means that no revision is missing.
    const store = await openSqliteStore({ clock: virtualClock(), path });
    const { entries, revision } = await store.range({ prefix: '/' });
    assert(revision >= newest, 'no acknowledged revision is lost');
    newest = revision;
    const found = new Map(entries.map((entry) => [entry.key, entry]));
    for (const [key, { count, revision: written }] of acknowledged) {
      const entry = found.get(key);
      assert(entry && entry.modRevision >= written, `${key} is there, as of ${written} or later`);
      assert(countIn(entry.value) >= count, `${key} has been written ${count} times`);
      if (entry.modRevision === written) assert.equal(countIn(entry.value), count);
    }
    for (const { key, value } of entries) {
      assert.equal(Buffer.compare(value, valueFor(key, countIn(value))), 0, `${key} is whole`);
    }
    await store.close();
  }
});

test('the log of repeatedly killed processes does not grow without limit', async () => {
  const sizes: number[] = [];
  for (let round = 0; round < 8; round++) {
    await writeUntilKilled(60);
    sizes.push(statSync(`${path}-wal`).size);
  }
  // Each process leaves less than a checkpoint, and all together several times as much.
  assert(Math.max(...sizes) < 2 ** 21, sizes.join(', '));
});

test('a file in use by another process is rejected', async () => {
  const writer = join(import.meta.dirname, 'sqlite-crash-writer.ts');
  child = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout!, 'data');
  await assert.rejects(openSqliteStore({ clock: virtualClock(), path }), /is in use by another process/);
  child.kill('SIGKILL');
  await exited;
  const store = await openSqliteStore({ clock: virtualClock(), path });
  await store.close();
});
