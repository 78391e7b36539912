/** Kubelet file operations below directories that containers write to, on the machine's own file system. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chdir, cwd, getgid } from 'node:process';
import { after, beforeEach, test } from 'node:test';
import { removePodDirectory } from '../../kubelet/volumes/pod-directory.ts';
import { asRoot } from '../conformance/as-root.ts';
import { openBeneath, pathOfOpen } from './beneath.ts';
import { machineFiles as files } from './files.ts';
import { mountsBelow } from './mounts.ts';

const hasCode = (code: string) => (error: unknown) => (error as NodeJS.ErrnoException).code === code;
let base = '';
const all: string[] = [];
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'kruise-hostile-'));
  all.push(base);
});
after(async () => {
  for (const each of all) {
    await files.unmountBelow(each);
    await rm(each, { recursive: true });
  }
});

test('directories nested deeper than the path limit are counted, chowned and removed', async () => {
  const [depth, before] = [3000, cwd()];
  mkdirSync(join(base, 'v'));
  chdir(join(base, 'v'));
  for (let level = 0; level < depth; level++) {
    mkdirSync('a');
    chdir('a');
  }
  chdir(before);
  assert.equal((await files.usage(join(base, 'v'))).inodes, depth + 1);
  await files.setGroup(join(base, 'v'), { gid: getgid!(), fileMode: 0o660, directoryMode: 0o2770 });
  await files.remove(join(base, 'v'));
  assert.equal(existsSync(join(base, 'v')), false);
});

test('a FIFO in place of a file blocks no read or write', async () => {
  execFileSync('mkfifo', [join(base, 'fifo')]);
  await assert.rejects(files.readFile(join(base, 'fifo')), hasCode('EINVAL'));
  await assert.rejects(files.readBeneath(base, ['fifo']), hasCode('EINVAL'));
  await assert.rejects(files.writeFile(join(base, 'fifo'), 'x'), hasCode('ENXIO'));
});

test('replacing a directory by a symbolic link never leads a lookup out of its root', async () => {
  mkdirSync(join(base, 'root/sub'), { recursive: true });
  writeFileSync(join(base, 'root/sub/file'), 'inside');
  mkdirSync(join(base, 'host'));
  writeFileSync(join(base, 'host/file'), 'outside');
  const [sub, aside] = [join(base, 'root/sub'), join(base, 'root/aside')];
  let isDone = false;
  const swapping = (async () => {
    while (!isDone) {
      renameSync(sub, aside);
      symlinkSync('../host', sub);
      await new Promise(setImmediate);
      rmSync(sub);
      renameSync(aside, sub);
      await new Promise(setImmediate);
    }
  })();
  let found = 0;
  for (let round = 0; round < 2000; round++) {
    const file = await openBeneath(join(base, 'root'), ['sub', 'file']).catch((error: unknown) => {
      assert.ok(hasCode('EXDEV')(error) || hasCode('ENOENT')(error) || hasCode('EINVAL')(error), String(error));
    });
    if (!file) continue;
    found++;
    assert.equal(readFileSync(pathOfOpen(file), 'utf8'), 'inside');
    await file.close();
  }
  isDone = true;
  await swapping;
  assert.ok(found > 0);
});

asRoot('bind mounts', () => {
  const bind = (path: string, index = 0) =>
    files.bindBeneath({
      root: join(base, 'volume'),
      path: path.split('/'),
      target: join(base, `pod/volume-subpaths/v/c/${index}`),
      mode: 0o770,
    });

  test('a subPath mount stays the same when a symbolic link takes its place', async () => {
    mkdirSync(join(base, 'volume/sub'), { recursive: true });
    writeFileSync(join(base, 'volume/sub/file'), 'inside');
    mkdirSync(join(base, 'host'));
    const target = await bind('sub');
    renameSync(join(base, 'volume/sub'), join(base, 'volume/other'));
    symlinkSync(join(base, 'host'), join(base, 'volume/sub'));
    assert.equal(readFileSync(join(target, 'file'), 'utf8'), 'inside');
    await assert.rejects(bind('sub', 1), hasCode('EXDEV'));
    assert.equal(existsSync(join(base, 'pod/volume-subpaths/v/c/1')), false);
  });

  test('missing directories are created, and a file is mounted as a file', async () => {
    mkdirSync(join(base, 'volume'));
    writeFileSync(join(base, 'volume/file'), 'one');
    await bind('new/deeper', 0);
    const made = await files.stat(join(base, 'volume/new/deeper'));
    assert.deepEqual([made?.type, made?.mode], ['directory', 0o770]);
    assert.equal(readFileSync(await bind('file', 1), 'utf8'), 'one');
  });

  test('a mount is reused for the same subPath, and replaced for another', async () => {
    mkdirSync(join(base, 'volume/one'), { recursive: true });
    mkdirSync(join(base, 'volume/two'));
    writeFileSync(join(base, 'volume/two/file'), '2');
    await bind('one');
    const target = await bind('one');
    assert.equal((await mountsBelow(target)).length, 1);
    await bind('two');
    assert.equal((await mountsBelow(target)).length, 1);
    assert.equal(readFileSync(join(target, 'file'), 'utf8'), '2');
  });

  test('a directory with a mount below is not removed, and the mounted volume keeps its files', async () => {
    mkdirSync(join(base, 'volume/sub'), { recursive: true });
    writeFileSync(join(base, 'volume/sub/file'), 'kept');
    await bind('sub');
    await assert.rejects(files.remove(join(base, 'pod')), hasCode('EBUSY'));
    await files.unmountBelow(join(base, 'pod/volume-subpaths'));
    await files.remove(join(base, 'pod'));
    assert.equal(existsSync(join(base, 'pod')), false);
    assert.equal(readFileSync(join(base, 'volume/sub/file'), 'utf8'), 'kept');
  });
});

asRoot('file systems in memory', () => {
  const memory = () => join(base, 'pod/volumes/memory');

  test('a file system in memory is mounted once, with its mode and its size', async () => {
    await files.mountMemory(memory(), { mode: 0o1777, sizeBytes: 64 * 1024 });
    writeFileSync(join(memory(), 'kept'), 'kept');
    await files.mountMemory(memory(), { mode: 0o1777, sizeBytes: 64 * 1024 });
    assert.equal((await mountsBelow(memory())).length, 1);
    assert.equal(readFileSync(join(memory(), 'kept'), 'utf8'), 'kept');
    assert.equal((await files.stat(memory()))?.mode, 0o1777);
    assert.throws(() => writeFileSync(join(memory(), 'large'), Buffer.alloc(128 * 1024)), hasCode('ENOSPC'));
  });

  test('a symbolic link in the place of the directory is not followed', async () => {
    mkdirSync(join(base, 'other'));
    mkdirSync(join(base, 'pod/volumes'), { recursive: true });
    symlinkSync(join(base, 'other'), memory());
    await assert.rejects(files.mountMemory(memory(), { mode: 0o755 }));
    assert.deepEqual(await mountsBelow(join(base, 'other')), []);
  });

  test('a file system in memory is unmounted before its Pod directory is removed', async () => {
    await files.mountMemory(memory(), { mode: 0o755 });
    await removePodDirectory(files, join(base, 'pod'));
    assert.equal(existsSync(join(base, 'pod')), false);
  });
});
