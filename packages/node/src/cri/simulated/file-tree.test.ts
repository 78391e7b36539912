import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFileTree, type FileTree, type FileTreeOptions, mayBeBelow } from './file-tree.ts';

function tree(options: Partial<FileTreeOptions> = {}): FileTree {
  return createFileTree({ now: () => 0, space: { usedBytes: 0, limitBytes: 1000 }, ...options });
}
const textOf = (files: FileTree, path: string) => Buffer.from(files.read(path)).toString();

describe('files', () => {
  test('a file is read as written, and can be appended to', () => {
    const files = tree();
    files.write('/a', 'one');
    files.write('/a', 'two', { append: true });
    assert.equal(textOf(files, '/a'), 'onetwo');
  });

  test('new entries in a setgid directory inherit the group', () => {
    const files = tree();
    files.makeDirectory('/shared', { mode: 0o2775 });
    files.change('/shared', { gid: 2000 });
    files.write('/shared/file', '');
    files.makeDirectory('/shared/deep');
    files.write('/shared/deep/file', '');
    files.write('/other', '');
    const groups = ['/shared/file', '/shared/deep', '/shared/deep/file', '/other'].map((path) => files.stat(path).gid);
    assert.deepEqual(groups, [2000, 2000, 2000, 0]);
    assert.equal(files.stat('/shared/deep').mode, 0o2755);
  });

  const failures: readonly [string, string, (files: FileTree) => unknown][] = [
    ['a missing file cannot be read', 'ENOENT', (files) => files.read('/none')],
    ['a directory cannot be read', 'EISDIR', (files) => files.read('/directory')],
    ['a file cannot contain files', 'ENOTDIR', (files) => files.write('/file/x', '')],
    ['a file needs an existing directory', 'ENOENT', (files) => files.write('/none/x', '')],
    ['a directory cannot be created twice', 'EEXIST', (files) => files.makeDirectory('/directory')],
    ['a directory cannot be moved into itself', 'EINVAL', (files) => files.rename('/directory', '/directory/x')],
    ['a non-empty directory cannot be replaced', 'ENOTEMPTY', (files) => files.rename('/empty', '/directory')],
    ['a loop of symbolic links is an error', 'ELOOP', (files) => files.read('/loop')],
    ['writing beyond the quota is an error', 'ENOSPC', (files) => files.write('/big', Buffer.alloc(1001))],
    ['the root cannot be removed', 'EBUSY', (files) => files.remove('/')],
  ];
  for (const [name, code, act] of failures) {
    test(name, () => {
      const files = tree();
      files.makeDirectory('/directory/below', { parents: true });
      files.makeDirectory('/empty');
      files.write('/file', 'text');
      files.symlink('/loop', 'loop');
      assert.throws(() => act(files), { code });
    });
  }

  test('removed files free their space', () => {
    const files = tree();
    files.makeDirectory('/d');
    files.write('/d/a', Buffer.alloc(1000));
    files.remove('/d');
    files.write('/b', Buffer.alloc(1000));
    assert.deepEqual(files.usage('/'), { bytes: 1000, inodes: 2 });
  });

  test('two dots lead up, but not above the root', () => {
    const files = tree();
    files.makeDirectory('/a/b', { parents: true });
    files.write('/a/x', 'up');
    assert.equal(textOf(files, '/a/b/../../../a/b/../x'), 'up');
    assert.deepEqual(files.list('/..'), ['a']);
  });

  for (const path of ['/a/b', '//a///b', '/a/b/', './a/./b/.', 'a/b//./', '/./a/b/./.']) {
    test(`${path} leads to /a/b`, () => {
      const files = tree();
      files.makeDirectory('/a');
      files.write('/a/b', 'there');
      assert.equal(textOf(files, path), 'there');
      assert.equal(files.realPath(path), '/a/b');
    });
  }

  test('a name may start with dots', () => {
    const files = tree();
    for (const name of ['.a', '..a', '...', '.a.']) {
      files.makeDirectory(`/${name}`);
      files.write(`/${name}/x`, name);
      assert.equal(textOf(files, `/${name}/x`), name);
    }
    assert.deepEqual(files.list('/'), ['...', '..a', '.a', '.a.']);
  });
});

describe('links', () => {
  test('a volume changes atomically when its link is renamed', () => {
    const files = tree();
    files.makeDirectory('/v/..1', { parents: true });
    files.makeDirectory('/v/..2');
    files.write('/v/..1/key', 'old');
    files.write('/v/..2/key', 'new');
    files.symlink('/v/..data', '..1');
    files.symlink('/v/key', '..data/key');
    assert.equal(textOf(files, '/v/key'), 'old');
    files.symlink('/v/..tmp', '..2');
    files.rename('/v/..tmp', '/v/..data');
    assert.equal(textOf(files, '/v/key'), 'new');
    assert.equal(files.realPath('/v/key'), '/v/..2/key');
  });

  test('a relative link is resolved from its directory, and missing directories beyond it are created', () => {
    const files = tree();
    files.makeDirectory('/a/b', { parents: true });
    files.symlink('/a/b/up', '../..');
    files.symlink('/a/b/root', '/');
    files.symlink('/a/b/here', '.');
    files.makeDirectory('/a/b/up/new/deep', { parents: true });
    assert.deepEqual(files.list('/a/b/root'), ['a', 'new']);
    assert.equal(files.realPath('/a/b/up/new/deep/..'), '/new');
    assert.equal(files.realPath('/a/b/here/here/root/a/b/here'), '/a/b');
  });

  test('a directory cannot be moved into itself through a link', () => {
    const files = tree();
    files.makeDirectory('/a/b', { parents: true });
    files.symlink('/link', '/a/b');
    assert.throws(() => files.rename('/a', '/link/c'), { code: 'EINVAL' });
  });

  test('removing a link keeps its target', () => {
    const files = tree();
    files.write('/a', 'kept');
    files.symlink('/link', '/a');
    files.remove('/link');
    assert.equal(textOf(files, '/a'), 'kept');
    assert.equal(files.lstat('/link'), undefined);
  });
});

describe('mounts', () => {
  test('a mounted directory is the same on both sides', () => {
    const host = tree();
    const container = tree();
    host.makeDirectory('/volumes/v', { parents: true });
    container.mount('/data', { entry: host.entryAt('/volumes/v'), isReadonly: false });
    host.write('/volumes/v/in', 'from the host');
    container.write('/data/out', 'from the container');
    assert.equal(textOf(container, '/data/in'), 'from the host');
    assert.equal(textOf(host, '/volumes/v/out'), 'from the container');
    assert.deepEqual(container.list('/'), ['data']);
  });

  test('a mounted file is writable', () => {
    const host = tree();
    const container = tree();
    host.write('/log', '');
    container.mount('/dev/termination-log', { entry: host.entryAt('/log'), isReadonly: false });
    container.write('/dev/termination-log', 'gone');
    assert.equal(textOf(host, '/log'), 'gone');
  });

  test('a read-only mount cannot be written to, but its surroundings can', () => {
    const host = tree();
    const container = tree();
    host.makeDirectory('/v');
    container.mount('/etc/config', { entry: host.entryAt('/v'), isReadonly: true });
    assert.throws(() => container.write('/etc/config/x', ''), { code: 'EROFS' });
    container.write('/etc/x', '');
  });

  test('a mount within a read-only root is writable', () => {
    const host = tree();
    const container = tree({ isReadonly: true });
    host.makeDirectory('/v');
    container.mount('/data', { entry: host.entryAt('/v'), isReadonly: false });
    container.write('/data/x', 'yes');
    assert.throws(() => container.write('/x', ''), { code: 'EROFS' });
  });

  test('a mount within a mount is not visible to other users of the outer one', () => {
    const host = tree();
    const [one, other] = [tree(), tree()];
    host.makeDirectory('/outer');
    host.makeDirectory('/inner');
    host.write('/inner/secret', 's');
    for (const container of [one, other]) {
      container.mount('/data', { entry: host.entryAt('/outer'), isReadonly: false });
    }
    one.mount('/data/inner', { entry: host.entryAt('/inner'), isReadonly: true });
    assert.equal(textOf(one, '/data/inner/secret'), 's');
    assert.deepEqual(other.list('/data/inner'), []);
  });

  test('a mount point cannot be removed', () => {
    const host = tree();
    const container = tree();
    host.makeDirectory('/v');
    container.mount('/data', { entry: host.entryAt('/v'), isReadonly: false });
    assert.throws(() => container.remove('/data'), { code: 'EBUSY' });
  });
});

describe('relations of paths', () => {
  const rows: readonly (readonly [path: string, place: string, may: boolean])[] = [
    ['/usr/bin/server', '/usr/bin/server', true],
    ['/usr/bin/server', '/usr', true],
    ['/usr/bin/server', '/', true],
    ['/usr/bin/server', '/usr/', true],
    ['/usr//bin/./server', '/usr/bin', true],
    ['/usr/bin/server', '/usr/b', false],
    ['/usr/bin', '/usr/bin/server', false],
    ['/etc', '/usr', false],
    ['/etc/../usr/bin', '/usr', true],
    ['/etc/..data', '/usr', false],
    ['/etc/..data/key', '/etc/..data', true],
  ];
  for (const [path, place, may] of rows) {
    test(`${path} ${may ? 'may be' : 'is not'} below ${place}`, () => {
      assert.equal(mayBeBelow(path, place), may);
    });
  }
});
