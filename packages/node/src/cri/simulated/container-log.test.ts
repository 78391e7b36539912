import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LogEntry } from '../runtime.ts';
import { createContainerLog } from './container-log.ts';

const textOf = (entries: readonly LogEntry[]) =>
  entries.map(({ content, isPartial }) => `${Buffer.from(content)}${isPartial ? '' : '\n'}`).join('');

test('a log returns what was written, however it is chunked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: fc.constantFrom('a', '\n', 'é'), maxLength: 20 })), async (writes) => {
      const log = createContainerLog(() => 0, 1e6);
      for (const text of writes) void log.output('stdout').write(Buffer.from(text));
      log.end();
      assert.equal(textOf(await Array.fromAsync(log.read({}))), writes.join(''));
    }),
  );
});

test('a log is bounded and keeps the newest entries', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 300 }), async (lengths) => {
      const log = createContainerLog(() => 0, 10_000);
      for (const [index, length] of lengths.entries()) {
        void log.output('stdout').write(Buffer.from(`${index} ${'x'.repeat(length)}\n`));
      }
      const kept = await Array.fromAsync(log.read({}));
      assert.ok(kept.reduce((sum, { content }) => sum + content.length, 0) <= 10_000);
      const numbers = kept.map(({ content }) => Number.parseInt(Buffer.from(content).toString(), 10));
      const last = lengths.length - 1;
      assert.deepEqual(
        numbers,
        Array.from(numbers, (_, index) => last - numbers.length + 1 + index),
      );
    }),
  );
});

test('a follower sees each line once and in order, even if older ones are dropped meanwhile', async () => {
  const log = createContainerLog(() => 0, 2000);
  const write = (from: number, to: number) => {
    for (let index = from; index < to; index++) void log.output('stdout').write(Buffer.from(`${index}\n`));
  };
  write(0, 5);
  const seen: number[] = [];
  const reading = (async () => {
    for await (const { content } of log.read({ follow: true })) {
      seen.push(Number(Buffer.from(content).toString()));
      if (seen.length === 3) write(5, 100);
    }
  })();
  await new Promise((resolve) => setImmediate(resolve));
  log.end();
  await reading;
  assert.deepEqual(seen.slice(0, 3), [0, 1, 2]);
  assert.equal(seen.at(-1), 99);
  assert.deepEqual(
    seen,
    [...new Set(seen)].sort((a, b) => a - b),
  );
});
