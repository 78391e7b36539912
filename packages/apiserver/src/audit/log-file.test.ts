import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLogFile } from './log-file.ts';

test('a full file is rotated, and a limited number of backups is kept', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'audit-'));
  t.after(() => rmSync(directory, { recursive: true }));
  let now = 0;
  const path = join(directory, 'audit.log');
  const write = openLogFile({ path, maxSizeBytes: 10, maxBackups: 2, nowMs: () => (now += 1000) });
  for (const line of ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'ffff', 'gggg']) write(line);
  write.close();
  assert.equal(readFileSync(path, 'utf8'), 'gggg\n');
  const former = readdirSync(directory)
    .filter((name) => name !== 'audit.log')
    .sort();
  assert.deepEqual(
    former.map((name) => readFileSync(join(directory, name), 'utf8')),
    ['cccc\ndddd\n', 'eeee\nffff\n'],
  );
});

test('a file is appended to after a restart', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'audit-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'audit.log');
  for (const line of ['a', 'b']) {
    const write = openLogFile({ path, maxSizeBytes: 100, maxBackups: 1, nowMs: () => 0 });
    write(line);
    write.close();
  }
  assert.equal(readFileSync(path, 'utf8'), 'a\nb\n');
});
