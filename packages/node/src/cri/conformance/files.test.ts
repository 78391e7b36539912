/** Node files behave the same on the machine's disk and in memory. */
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

  test('a file is read as written, or only its tail', async () => {
    await files.writeFile(at('a'), 'one two', { mode: 0o640 });
    assert.equal(await text('a'), 'one two');
    assert.equal(Buffer.from(await files.readFile(at('a'), { tailBytes: 3 })).toString(), 'two');
    assert.equal(Buffer.from(await files.readFile(at('a'), { tailBytes: 100 })).toString(), 'one two');
    const stat = await files.stat(at('a'));
    assert.deepEqual([stat?.type, stat?.sizeBytes, stat?.mode], ['file', 7, 0o640]);
  });

  test('a rewritten file keeps its permissions', async () => {
    await files.writeFile(at('kept'), 'x', { mode: 0o600 });
    await files.writeFile(at('kept'), 'longer');
    assert.deepEqual([await text('kept'), (await files.stat(at('kept')))?.mode], ['longer', 0o600]);
  });

  test('directories are created with their parents, idempotently', async () => {
    await files.makeDirectory(at('d/e/f'), { mode: 0o711 });
    await files.makeDirectory(at('d/e/f'));
    assert.equal((await files.stat(at('d/e/f')))?.mode, 0o711);
    assert.deepEqual(await files.list(at('d')), ['e']);
  });

  test('names are sorted', async () => {
    await files.makeDirectory(at('names'));
    for (const name of ['b', 'a', '..c']) await files.writeFile(at(`names/${name}`), '');
    assert.deepEqual(await files.list(at('names')), ['..c', 'a', 'b']);
  });

  test('a link atomically replaces another by rename', async () => {
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

  test('a directory is removed with its contents, idempotently', async () => {
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

  test('usage counts everything below a path', async () => {
    await files.makeDirectory(at('count/deep'));
    await files.writeFile(at('count/deep/file'), Buffer.alloc(10_000));
    const { bytes, inodes } = await files.usage(at('count'));
    assert.equal(inodes, 3);
    assert.ok(bytes >= 10_000);
  });

  test('a directory and its newly created parents have the requested mode', async () => {
    await files.makeDirectory(at('private/pods/uid'), { mode: 0o750 });
    for (const path of ['private', 'private/pods', 'private/pods/uid']) {
      assert.equal((await files.stat(at(path)))?.mode, 0o750, path);
    }
  });

  test('a file is neither read nor written through a symbolic link', async () => {
    await files.writeFile(at('secret'), 'hush', { mode: 0o600 });
    await files.symlink(at('planted'), { target: at('secret') });
    await assert.rejects(files.readFile(at('planted')), hasCode('ELOOP'));
    await assert.rejects(files.readFile(at('planted'), { tailBytes: 10 }), hasCode('ELOOP'));
    await assert.rejects(files.writeFile(at('planted'), 'gone'), hasCode('ELOOP'));
    assert.equal(Buffer.from(await files.readFile(at('planted'), { followsLinks: true })).toString(), 'hush');
    await assert.rejects(files.changeMode(at('planted'), 0o777));
    assert.equal((await files.stat(at('secret')))?.mode, 0o600);
  });

  test('an exclusive creation fails if the path exists', async () => {
    await files.writeFile(at('there'), 'kept');
    await files.symlink(at('dangling'), { target: at('nowhere') });
    for (const name of ['there', 'dangling']) {
      await assert.rejects(files.writeFile(at(name), 'x', { isNew: true }), hasCode('EEXIST'));
      await assert.rejects(files.makeDirectory(at(name), { isNew: true }), hasCode('EEXIST'));
    }
    assert.equal(await text('there'), 'kept');
    assert.equal(await files.stat(at('nowhere')), undefined);
  });

  async function contentOf(root: string, ...path: string[]) {
    const found = await files.readBeneath(at(root), path);
    if (found?.type === 'directory') return found.names;
    return found && Buffer.concat(await found.content.toArray()).toString();
  }

  test('symbolic links below a root are followed while they stay there', async () => {
    await files.makeDirectory(at('root/pods/web'));
    await files.makeDirectory(at('root/links'));
    await files.writeFile(at('root/pods/web/0.log'), 'all is well');
    await files.writeFile(at('outside'), 'hush');
    await files.symlink(at('root/links/relative'), { target: '../pods/web/0.log' });
    await files.symlink(at('root/links/absolute'), { target: at('root/pods/web/0.log') });
    await files.symlink(at('root/links/up'), { target: '../../outside' });
    await files.symlink(at('root/links/out'), { target: at('outside') });
    await files.symlink(at('root/links/beside'), { target: at('root2') });
    await files.symlink(at('root/links/folder'), { target: at('') });
    await files.symlink(at('root/links/self'), { target: 'self' });
    assert.equal(await contentOf('root', 'pods', 'web', '0.log'), 'all is well');
    assert.equal(await contentOf('root', 'links', 'relative'), 'all is well');
    assert.equal(await contentOf('root', 'links', 'absolute'), 'all is well');
    assert.deepEqual(await contentOf('root'), ['links', 'pods']);
    assert.equal(await contentOf('root', 'none', 'deeper'), undefined);
    for (const path of [
      ['links', 'up'],
      ['links', 'out'],
      ['links', 'beside'],
      ['links', 'folder', 'outside'],
      ['..', 'outside'],
    ]) {
      await assert.rejects(contentOf('root', ...path), hasCode('EXDEV'), path.join('/'));
    }
  });

  test('a group gets the contents of a directory, but no target of a link', async () => {
    await files.makeDirectory(at('volume/deep'), { mode: 0o700 });
    await files.writeFile(at('volume/deep/file'), '', { mode: 0o600 });
    await files.writeFile(at('elsewhere'), '', { mode: 0o600 });
    await files.makeDirectory(at('elsewhere.d'), { mode: 0o700 });
    await files.symlink(at('volume/deep/link'), { target: at('elsewhere') });
    await files.symlink(at('volume/deep/link.d'), { target: at('elsewhere.d') });
    const canGiveAway = files !== machineFiles || process.getuid?.() === 0;
    const [own, group] = canGiveAway ? [0, 2000] : [process.getgid!(), process.getgid!()];
    await files.symlink(at('disk'), { target: 'volume' });
    await files.setGroup(at('disk'), { gid: group, fileMode: 0o660, directoryMode: 0o2770 });
    const access = async (path: string) => {
      const { gid, mode } = (await files.stat(at(path)))!;
      return `${gid} ${mode.toString(8)}`;
    };
    const shared = await Promise.all(['volume', 'volume/deep', 'volume/deep/file'].map(access));
    assert.deepEqual(shared, [`${group} 2770`, `${group} 2770`, `${group} 660`]);
    assert.deepEqual(await Promise.all(['elsewhere', 'elsewhere.d'].map(access)), [`${own} 600`, `${own} 700`]);
  });

  test('the target of a link is kept when the directory of the link is removed', async () => {
    await files.makeDirectory(at('kept.d'));
    await files.writeFile(at('kept.d/file'), 'kept');
    await files.makeDirectory(at('pod/empty-dir'));
    await files.symlink(at('pod/empty-dir/link'), { target: at('kept.d') });
    await files.remove(at('pod'));
    assert.equal(await files.stat(at('pod')), undefined);
    assert.equal(await text('kept.d/file'), 'kept');
  });

  const failures: readonly [what: string, code: string, act: () => Promise<unknown>][] = [
    ['a missing file cannot be read', 'ENOENT', () => files.readFile(at('none'))],
    ['a missing directory cannot be listed', 'ENOENT', () => files.list(at('none'))],
    ['a file cannot be listed', 'ENOTDIR', () => files.list(at('a'))],
    ['a directory cannot be read', 'EISDIR', () => files.readFile(base)],
    ['a file needs an existing directory', 'ENOENT', () => files.writeFile(at('none/x'), '')],
    ['a directory cannot replace a file', 'EEXIST', () => files.makeDirectory(at('a'))],
    ['a symbolic link cannot replace a file', 'EEXIST', () => files.symlink(at('a'), { target: 'x' })],
    ['a file cannot be read as a symbolic link', 'EINVAL', () => files.readLink(at('a'))],
    ['a missing file cannot be renamed', 'ENOENT', () => files.rename(at('none'), at('other'))],
  ];
  for (const [what, code, act] of failures) {
    test(what, async () => {
      await files.writeFile(at('a'), '');
      await assert.rejects(act(), hasCode(code));
    });
  }
}
