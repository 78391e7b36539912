/** A node's files behave alike, be they on the machine's disk or in memory. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { machineFiles } from '../machine/files.ts';
import type { HostFiles } from '../runtime.ts';
import { createFileTree } from '../simulated/file-tree.ts';
import { hostFiles } from '../simulated/host-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'kruise-files-'));
after(() => rmSync(folder, { recursive: true }));
const memory = hostFiles(createFileTree({ now: () => 0, space: { usedBytes: 0, limitBytes: 1e6 } }));
await memory.makeDirectory('/node');

for (const [name, files, base] of [
  ['on the machine', machineFiles, folder],
  ['in memory', memory, '/node'],
] as const) {
  describe(`files ${name}`, () => testFiles(files, base));
}

function testFiles(files: HostFiles, base: string): void {
  const at = (path: string) => `${base}/${path}`;
  const text = async (path: string) => Buffer.from(await files.readFile(at(path))).toString();
  const hasCode = (code: string) => (error: unknown) => (error as NodeJS.ErrnoException).code === code;

  test('a file is read as it was written, or only its end', async () => {
    await files.writeFile(at('a'), 'one two', { mode: 0o640 });
    assert.equal(await text('a'), 'one two');
    assert.equal(Buffer.from(await files.readFile(at('a'), { tailBytes: 3 })).toString(), 'two');
    assert.equal(Buffer.from(await files.readFile(at('a'), { tailBytes: 100 })).toString(), 'one two');
    const stat = await files.stat(at('a'));
    assert.deepEqual([stat?.type, stat?.sizeBytes, stat?.mode], ['file', 7, 0o640]);
  });

  test('a file that is written again keeps its permissions', async () => {
    await files.writeFile(at('kept'), 'x', { mode: 0o600 });
    await files.writeFile(at('kept'), 'longer');
    assert.deepEqual([await text('kept'), (await files.stat(at('kept')))?.mode], ['longer', 0o600]);
  });

  test('directories are made with all above them, once or again', async () => {
    await files.makeDirectory(at('d/e/f'), { mode: 0o711 });
    await files.makeDirectory(at('d/e/f'));
    assert.equal((await files.stat(at('d/e/f')))?.mode, 0o711);
    assert.deepEqual(await files.list(at('d')), ['e']);
  });

  test('names come in order', async () => {
    await files.makeDirectory(at('names'));
    for (const name of ['b', 'a', '..c']) await files.writeFile(at(`names/${name}`), '');
    assert.deepEqual(await files.list(at('names')), ['..c', 'a', 'b']);
  });

  test('a link is renamed over another at once', async () => {
    await files.makeDirectory(at('v/one'));
    await files.makeDirectory(at('v/two'));
    await files.writeFile(at('v/one/key'), '1');
    await files.writeFile(at('v/two/key'), '2');
    await files.symlink(at('v/data'), { target: 'one' });
    assert.deepEqual([await text('v/data/key'), await files.readLink(at('v/data'))], ['1', 'one']);
    await files.symlink(at('v/new'), { target: 'two' });
    await files.rename(at('v/new'), at('v/data'));
    assert.equal(await text('v/data/key'), '2');
    assert.equal((await files.stat(at('v/data')))?.type, 'symlink');
  });

  test('what is removed is gone, with all it holds, once or again', async () => {
    await files.makeDirectory(at('gone/deep'));
    await files.writeFile(at('gone/deep/file'), 'x');
    await files.remove(at('gone'));
    await files.remove(at('gone'));
    assert.equal(await files.stat(at('gone')), undefined);
    assert.equal(await files.stat(at('gone/deep')), undefined);
  });

  test('permissions can be changed', async () => {
    await files.writeFile(at('mode'), '');
    await files.changeMode(at('mode'), 0o4755);
    assert.equal((await files.stat(at('mode')))?.mode, 0o4755);
  });

  test('what is below a path is counted', async () => {
    await files.makeDirectory(at('count/deep'));
    await files.writeFile(at('count/deep/file'), Buffer.alloc(10_000));
    const { bytes, inodes } = await files.usage(at('count'));
    assert.equal(inodes, 3);
    assert.ok(bytes >= 10_000);
  });

  const failures: readonly [what: string, code: string, act: () => Promise<unknown>][] = [
    ['what is not there is not read', 'ENOENT', () => files.readFile(at('none'))],
    ['what is not there is not listed', 'ENOENT', () => files.list(at('none'))],
    ['a file is not listed', 'ENOTDIR', () => files.list(at('a'))],
    ['a directory is not read', 'EISDIR', () => files.readFile(base)],
    ['a file needs its directory', 'ENOENT', () => files.writeFile(at('none/x'), '')],
    ['a file is not a directory', 'EEXIST', () => files.makeDirectory(at('a'))],
    ['a link is made once', 'EEXIST', () => files.symlink(at('a'), { target: 'x' })],
    ['what is not a link leads nowhere', 'EINVAL', () => files.readLink(at('a'))],
    ['what is not there is not renamed', 'ENOENT', () => files.rename(at('none'), at('other'))],
  ];
  for (const [what, code, act] of failures) {
    test(what, async () => {
      await files.writeFile(at('a'), '');
      await assert.rejects(act(), hasCode(code));
    });
  }
}
