import type { Stats } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { FileStat, HostFiles } from '../runtime.ts';

/** The files of the machine this runs on. */
export const machineFiles: HostFiles = {
  async makeDirectory(path, { mode } = {}) {
    const made = await mkdir(path, { recursive: true });
    // What is asked for is not to depend on the umask.
    if (made !== undefined && mode !== undefined) await chmod(path, mode);
  },
  async writeFile(path, content, { mode } = {}) {
    await writeFile(path, content);
    if (mode !== undefined) await chmod(path, mode);
  },
  async readFile(path, { tailBytes } = {}) {
    if (tailBytes === undefined) return readFile(path);
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const length = Math.min(size, tailBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  },
  symlink: (path, { target }) => symlink(target, path),
  readLink: (path) => readlink(path),
  list: async (path) => (await readdir(path)).sort(),
  async stat(path) {
    const stats = await found(lstat(path));
    return stats && statOf(stats);
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { recursive: true, force: true }),
  changeMode: (path, mode) => chmod(path, mode),
  async changeOwner(path, { uid, gid }) {
    // -1 leaves it as it is.
    await chown(path, uid ?? -1, gid ?? -1);
  },
  usage,
};

async function usage(path: string): Promise<{ bytes: number; inodes: number }> {
  const stats = await found(lstat(path));
  if (!stats) return { bytes: 0, inodes: 0 };
  // What is taken of the disk, which for files with holes is less than their size.
  let [bytes, inodes] = [stats.blocks * 512, 1];
  if (!stats.isDirectory()) return { bytes, inodes };
  for (const name of (await found(readdir(path))) ?? []) {
    const below = await usage(join(path, name));
    bytes += below.bytes;
    inodes += below.inodes;
  }
  return { bytes, inodes };
}

/** Undefined if there is nothing, or nothing any more. */
async function found<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function statOf(stats: Stats): FileStat {
  return {
    type: typeOf(stats),
    sizeBytes: stats.size,
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    gid: stats.gid,
    modifiedAt: stats.mtimeMs,
  };
}

function typeOf(stats: Stats): FileStat['type'] {
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isSocket()) return 'socket';
  if (stats.isCharacterDevice()) return 'characterDevice';
  if (stats.isBlockDevice()) return 'blockDevice';
  return stats.isFIFO() ? 'fifo' : 'file';
}
