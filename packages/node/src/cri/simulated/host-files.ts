import type { HostFiles } from '../runtime.ts';
import type { FileTree } from './file-tree.ts';

/** A node's files in memory, as its kubelet sees them. */
export function hostFiles(tree: FileTree): HostFiles {
  return {
    async makeDirectory(path, { mode } = {}) {
      tree.makeDirectory(path, { parents: true, ...(mode !== undefined && { mode }) });
    },
    async writeFile(path, content, { mode } = {}) {
      // The caller may use its buffer again.
      const kept = typeof content === 'string' ? content : new Uint8Array(content);
      tree.write(path, kept, mode === undefined ? {} : { mode });
    },
    async readFile(path, { tailBytes } = {}) {
      const content = tree.read(path);
      return tailBytes === undefined || tailBytes >= content.length
        ? content
        : content.subarray(content.length - tailBytes);
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
      tree.change(path, { mode });
    },
    async changeOwner(path, owner) {
      tree.change(path, owner);
    },
    usage: async (path) => tree.usage(path),
  };
}
