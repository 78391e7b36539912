import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { silentLog } from '@kruise/client/log';
import { instantOf } from '@kruise/values/time';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createFileTree } from '../../cri/simulated/file-tree.ts';
import { hostFiles } from '../../cri/simulated/host-files.ts';
import { defaultLogLimits, planRotation, type RotationContext, rotateLogs } from './log-rotation.ts';

test('a log is rotated at 10 MiB, and four rotated logs are kept', () => {
  assert.deepEqual(defaultLogLimits, { maxSizeBytes: 10 * 2 ** 20, maxFiles: 5, intervalMs: 10_000 });
});

type Row = readonly [name: string, beside: string, removed: string, compressed: string];
const rows: Row[] = [
  ['the first rotation has no rotated logs', '', '', ''],
  ['the last rotated log is compressed', '0.log.1', '', '0.log.1'],
  ['compressed logs are kept', '0.log.1.gz 0.log.2', '', '0.log.2'],
  ['the oldest logs are removed', '0.log.1.gz 0.log.2.gz 0.log.3.gz 0.log.4', '0.log.1.gz', '0.log.4'],
  ['an unfinished compression is removed', '0.log.1.tmp 0.log.1', '0.log.1.tmp', '0.log.1'],
  ['a log that exists compressed as well is removed', '0.log.1 0.log.1.gz', '0.log.1', ''],
  ['logs of other attempts are ignored', '1.log.1 1.log 10.log.1', '', ''],
];
for (const [name, beside, removed, compressed] of rows) {
  test(`${name}`, () => {
    const words = (text: string) => text.split(' ').filter(Boolean);
    assert.deepEqual(planRotation(['0.log', ...words(beside)], '0.log', 5), {
      removed: words(removed),
      compressed: words(compressed),
    });
  });
}

/** Creates containers with log files, and a runtime that reopens them. */
async function setUp(logs: { readonly [name: string]: string | undefined }, reopen?: () => Promise<void>) {
  const clock = virtualClock(instantOf(2026, 1, 2));
  const files = hostFiles(createFileTree({ now: clock.now, space: { usedBytes: 0, limitBytes: 1e9 } }));
  const pathOf = (id: string) => `/logs/${id}/0.log`;
  for (const [id, content] of Object.entries(logs)) {
    await files.makeDirectory(`/logs/${id}`);
    if (content !== undefined) await files.writeFile(pathOf(id), content);
  }
  const reopened: string[] = [];
  const runtime = {
    listContainers: async () => ({ containers: Object.keys(logs).map((id) => ({ id })) }),
    containerStatus: async ({ containerId }: { readonly containerId: string }) => ({
      status: { logPath: pathOf(containerId) },
    }),
    async reopenContainerLog({ containerId }: { readonly containerId: string }) {
      await reopen?.();
      reopened.push(containerId);
      await files.writeFile(pathOf(containerId), '');
    },
  };
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };
  // The cast is safe: the tests use only these calls of the runtime.
  const context = { runtime, files, clock, log } as unknown as RotationContext;
  return { context, clock, files, reopened, warnings };
}
const limits = { ...defaultLogLimits, maxSizeBytes: 10 };

test('a log that is too long is rotated; others are left alone', async () => {
  const { context, files, reopened } = await setUp({ long: 'x'.repeat(10), short: 'x'.repeat(9) });
  await rotateLogs(context, limits);
  assert.deepEqual(await files.list('/logs/long'), ['0.log', '0.log.20260102-000000']);
  assert.deepEqual(await files.list('/logs/short'), ['0.log']);
  assert.deepEqual(reopened, ['long']);
});

test('all rotated logs but the newest are compressed, and only the maximum number is kept', async () => {
  const { context, clock, files } = await setUp({ c: '' });
  for (let round = 0; round < 8; round++) {
    await files.writeFile('/logs/c/0.log', `${round}`.repeat(10));
    await rotateLogs(context, limits);
    clock.advance(10_000);
  }
  const names = await files.list('/logs/c');
  assert.deepEqual(names, [
    '0.log',
    '0.log.20260102-000040.gz',
    '0.log.20260102-000050.gz',
    '0.log.20260102-000100.gz',
    '0.log.20260102-000110',
  ]);
  assert.equal(gunzipSync(await files.readFile(`/logs/c/${names[1]}`)).toString(), '4'.repeat(10));
});

test('a deleted log is reopened', async () => {
  const { context, reopened } = await setUp({ gone: undefined });
  await rotateLogs(context, limits);
  assert.deepEqual(reopened, ['gone']);
});

test('a log that cannot be reopened gets its name back, and other logs are rotated', async () => {
  let failures = 1;
  const { context, files, reopened, warnings } = await setUp({ a: 'x'.repeat(10), b: 'x'.repeat(10) }, async () => {
    if (failures-- > 0) throw new Error('no luck');
  });
  await rotateLogs(context, limits);
  assert.deepEqual(await files.list('/logs/a'), ['0.log']);
  assert.deepEqual([reopened, warnings], [['b'], ['container log rotation failed']]);
});
