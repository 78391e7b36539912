import { Readable } from 'node:stream';
import type { HostFiles } from '../runtime.ts';
import { FileError, type FileTree } from './file-tree.ts';

/** In-memory files of a node, as its kubelet accesses them. */
export function hostFiles(tree: FileTree): HostFiles {
  const refuseLink = (path: string) => {
    if (tree.lstat(path)?.type === 'symlink') throw new FileError('ELOOP', path);
  };
  return {
    async makeDirectory(path, { mode, isNew = false } = {}) {
      tree.makeDirectory(path, { parents: !isNew, ...(mode !== undefined && { mode, parentMode: mode }) });
    },
    async writeFile(path, content, { mode, uid, isNew = false } = {}) {
      if (isNew && tree.lstat(path)) throw new FileError('EEXIST', path);
      refuseLink(path);
      // The content is copied, because the caller may reuse its buffer.
      const kept = typeof content === 'string' ? content : new Uint8Array(content);
      tree.write(path, kept, mode === undefined ? {} : { mode });
      if (uid !== undefined) tree.change(path, { uid });
    },
    async readFile(path, { tailBytes, followsLinks = false } = {}) {
      if (!followsLinks) refuseLink(path);
      const content = tree.read(path);
      return tailBytes === undefined || tailBytes >= content.length
        ? content
        : content.subarray(content.length - tailBytes);
    },
    async readBeneath(root, path) {
      const found = resolveBeneath(tree, root, path);
      const type = tree.lstat(found)?.type;
      if (type === undefined) return undefined;
      if (type === 'directory') return { type, names: tree.list(found) };
      if (type !== 'file') throw new FileError('EINVAL', found);
      return { type, content: Readable.from([tree.read(found)]) };
    },
    // All files are in this process: no container writes between this check and the next.
    bindBeneath: async ({ root, path, mode }) => resolveBeneath(tree, root, path, mode),
    // All files are in memory.
    async mountMemory(path, { mode }) {
      tree.makeDirectory(path, { parents: true, mode });
    },
    async unmountBelow() {},
    async setGroup(path, { gid, fileMode, directoryMode }) {
      const pending = [tree.realPath(path)];
      for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
        const stat = tree.lstat(each);
        if (!stat || stat.type === 'symlink') continue;
        const isDirectory = stat.type === 'directory';
        tree.change(each, { gid, mode: stat.mode | (isDirectory ? directoryMode : fileMode) });
        if (isDirectory) for (const name of tree.list(each)) pending.push(`${each}/${name}`);
      }
    },
    async symlink(path, { target }) {
      tree.symlink(path, target);
    },
    readLink: async (path) => tree.readLink(path),
    list: async (path) => tree.list(path),
    stat: async (path) => tree.lstat(path),
    async rename(from, to) {
      tree.rename(from, to);
    },
    async remove(path) {
      if (tree.lstat(path)) tree.remove(path);
    },
    async changeMode(path, mode) {
      refuseLink(path);
      tree.change(path, { mode });
    },
    async changeOwner(path, owner) {
      refuseLink(path);
      tree.change(path, owner);
    },
    usage: async (path) => tree.usage(path),
  };
}

const maxLinks = 40;

/**
 * Returns the path below a root with all symbolic links resolved; EXDEV if one leads out of the root. Optionally
 * creates directories.
 */
function resolveBeneath(tree: FileTree, root: string, path: readonly string[], makeMode?: number): string {
  const names: string[] = [];
  const pending = path.toReversed();
  const here = () => [root, ...names].join('/');
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (names.pop() === undefined) throw new FileError('EXDEV', [root, ...path].join('/'));
      continue;
    }
    const at = `${here()}/${name}`;
    const type = tree.lstat(at)?.type;
    if (type === undefined && makeMode !== undefined) {
      tree.makeDirectory(at);
      tree.change(at, { mode: makeMode });
    }
    if (type !== 'symlink') {
      names.push(name);
      continue;
    }
    if (++links > maxLinks) throw new FileError('ELOOP', at);
    let target = tree.readLink(at);
    if (target.startsWith('/')) {
      if (target !== root && !target.startsWith(`${root}/`)) throw new FileError('EXDEV', at);
      target = target.slice(root.length);
      names.length = 0;
    }
    pending.push(...target.split('/').toReversed());
  }
  return here();
}
