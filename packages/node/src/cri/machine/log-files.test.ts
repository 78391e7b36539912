import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { systemClock } from '@kruise/values/system';
import type { ContainerState } from '../messages.ts';
import type { ContainerStatusResponse, ReadLogRequest } from '../runtime.ts';
import { fileLogs } from './log-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'kruise-logs-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

/** Creates a container log and a reader of it. */
function logFile(content: string | undefined, state: ContainerState = 'CONTAINER_EXITED') {
  const path = join(folder, `${files++}.log`);
  if (content !== undefined) writeFileSync(path, content);
  const container = { state };
  // The cast is safe: the reader uses only these fields of the status.
  const containerStatus = async () =>
    ({ status: { logPath: path, state: container.state } }) as ContainerStatusResponse;
  const logs = fileLogs(systemClock, { containerStatus });
  const read = async (request: Omit<ReadLogRequest, 'containerId'> = {}) => {
    const lines: string[] = [];
    for await (const { content: bytes } of logs.read({ containerId: 'c', ...request }))
      lines.push(Buffer.from(bytes).toString());
    return lines;
  };
  return { path, container, logs, read };
}

const line = (text: string, second = 0) =>
  `2026-01-02T03:04:${String(second).padStart(2, '0')}.000000000Z stdout F ${text}\n`;

test('a missing log is empty', async () => {
  assert.deepEqual(await logFile(undefined).read(), []);
});

test('malformed lines are skipped', async () => {
  assert.deepEqual(await logFile(`${line('a')}garbage\n\n${line('b')}`).read(), ['a', 'b']);
});

test('a line without newline is incomplete', async () => {
  assert.deepEqual(await logFile(`${line('a')}2026-01-02T03:04:05Z stdout F hal`).read(), ['a']);
});

describe('the tail of a log', () => {
  const cases: readonly [tailLines: number, expected: readonly string[]][] = [
    [0, []],
    [1, ['c']],
    [2, ['b', 'c']],
    [3, ['a', 'b', 'c']],
    [9, ['a', 'b', 'c']],
  ];
  for (const [tailLines, expected] of cases) {
    test(`is read with ${tailLines} lines`, async () => {
      assert.deepEqual(await logFile(line('a') + line('b') + line('c')).read({ tailLines }), expected);
    });
  }

  test('is found in a log of many chunks', async () => {
    const all = Array.from({ length: 5000 }, (_, index) => line(`number ${index}`)).join('');
    const { read } = logFile(all);
    assert.deepEqual(await read({ tailLines: 2 }), ['number 4998', 'number 4999']);
    assert.equal((await read({ tailLines: 4000 })).length, 4000);
    assert.equal((await read()).length, 5000);
  });
});

test('entries since a time include those of that time', async () => {
  const { read } = logFile(line('a', 1) + line('b', 2) + line('c', 3));
  assert.deepEqual(await read({ since: Date.UTC(2026, 0, 2, 3, 4, 2) }), ['b', 'c']);
});

test('a followed log is read until the container exits, across rotations', async () => {
  const { path, container, logs } = logFile(line('one'), 'CONTAINER_RUNNING');
  const lines: string[] = [];
  for await (const { content } of logs.read({ containerId: 'c', follow: true })) {
    lines.push(Buffer.from(content).toString());
    if (lines.length === 1) appendFileSync(path, line('two'));
    if (lines.length === 2) {
      renameSync(path, `${path}.old`);
      writeFileSync(path, line('three'));
    }
    if (lines.length === 3) {
      appendFileSync(path, line('four'));
      container.state = 'CONTAINER_EXITED';
    }
  }
  assert.deepEqual(lines, ['one', 'two', 'three', 'four']);
});

test('an aborted reader ends', async () => {
  const { logs } = logFile(line('one'), 'CONTAINER_RUNNING');
  const reader = new AbortController();
  const reading = Array.fromAsync(logs.read({ containerId: 'c', follow: true }, { signal: reader.signal }));
  reader.abort(new Error('enough'));
  await assert.rejects(reading, /enough/);
});
