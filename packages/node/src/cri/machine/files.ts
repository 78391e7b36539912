import { constants, createReadStream, type Stats } from 'node:fs';
import {
  chmod,
  chown,
  type FileHandle,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import type { FileStat, HostFiles } from '../runtime.ts';
import { ifPresent, openBeneath, openItself, pathOfOpen, systemError, walkTree } from './beneath.ts';
import { bindOpen, mountMemory, mountsBelow, unmountBelow } from './mounts.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Files of the local machine. */
export const machineFiles: HostFiles = {
  async makeDirectory(path, { mode, isNew = false } = {}) {
    const made = await mkdir(path, { recursive: !isNew, ...(mode === undefined ? {} : { mode }) });
    // The requested mode must not depend on the umask.
    if ((isNew || made !== undefined) && mode !== undefined) await chmod(path, mode);
  },
  async writeFile(path, content, { mode, uid, isNew = false } = {}) {
    const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (isNew ? O_EXCL : 0);
    const file = await open(path, flags, mode ?? 0o644);
    try {
      await regularFile(file, path);
      // The content is written last: until then the file is empty for users without read permission.
      await file.truncate(0);
      if (uid !== undefined) await file.chown(uid, -1);
      if (mode !== undefined) await file.chmod(mode);
      await file.writeFile(content);
    } finally {
      await file.close();
    }
  },
  async readFile(path, { tailBytes, followsLinks = false } = {}) {
    const file = await open(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
    try {
      const { size } = await regularFile(file, path);
      if (tailBytes === undefined) return await file.readFile();
      const length = Math.min(size, tailBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  },
  async readBeneath(root, path) {
    const named = await ifPresent(openBeneath(root, path));
    if (!named) return undefined;
    try {
      const stats = await named.stat();
      if (stats.isDirectory()) return { type: 'directory', names: (await readdir(pathOfOpen(named))).sort() };
      if (!stats.isFile()) throw notRegular(path.join('/'));
      const file = await open(pathOfOpen(named), O_RDONLY | O_NONBLOCK);
      // The read stops at the current size: a log that grows faster than it is read would never end.
      const content = createReadStream('', { fd: file, start: 0, end: Math.max(0, stats.size - 1) });
      return { type: 'file', content };
    } finally {
      await named.close();
    }
  },
  async bindBeneath({ root, path, target, mode }) {
    const found = await openBeneath(root, path, mode);
    try {
      await bindOpen(found, target);
    } finally {
      await found.close();
    }
    return target;
  },
  mountMemory,
  unmountBelow,
  async setGroup(path, { gid, fileMode, directoryMode }) {
    const share = async (at: string, mode: number) => {
      await chown(at, -1, gid);
      await chmod(at, mode & 0o7777);
    };
    // An administrator may have made a local volume's directory a symbolic link.
    await walkTree(await realpath(path), {
      crossesDevices: true,
      async onEntry(at, stats) {
        // A symbolic link has its own owner, but no mode.
        if (stats.isSymbolicLink()) return lchown(at, -1, gid);
        const file = await ifPresent(openItself(at));
        if (!file) return;
        try {
          const opened = await file.stat();
          if (!opened.isSymbolicLink()) await share(pathOfOpen(file), opened.mode | fileMode);
        } finally {
          await file.close();
        }
      },
      onDirectory: (at, { mode }) => share(at, mode | directoryMode),
    });
  },
  symlink: (path, { target }) => symlink(target, path),
  readLink: (path) => readlink(path),
  list: async (path) => (await readdir(path)).sort(),
  async stat(path) {
    const stats = await ifPresent(lstat(path));
    return stats && statOf(stats);
  },
  rename: (from, to) => rename(from, to),
  remove,
  async changeMode(path, mode) {
    const file = await openItself(path);
    await chmod(pathOfOpen(file), mode).finally(() => file.close());
  },
  async changeOwner(path, { uid, gid }) {
    // -1 leaves the ID unchanged.
    await lchown(path, uid ?? -1, gid ?? -1);
  },
  usage,
};

async function regularFile(file: FileHandle, path: string): Promise<Stats> {
  const stats = await file.stat();
  if (stats.isDirectory()) throw systemError('EISDIR', 'illegal operation on a directory', path);
  if (!stats.isFile()) throw notRegular(path);
  return stats;
}

function notRegular(path: string): Error {
  return systemError('EINVAL', 'not a regular file', path);
}

async function remove(path: string): Promise<void> {
  const stats = await ifPresent(lstat(path));
  if (!stats) return;
  if (!stats.isDirectory()) {
    await ifPresent(unlink(path));
    return;
  }
  // Mounts below belong to other Pods: removing the directory must not delete the contents of a mounted volume.
  const [mounted] = await mountsBelow(path);
  if (mounted !== undefined) throw systemError('EBUSY', `${mounted} is mounted`, path);
  await walkTree(path, {
    crossesDevices: false,
    onEntry: async (at) => void (await ifPresent(unlink(at))),
    onLeft: async (at) => void (await ifPresent(rmdir(at))),
  });
  await ifPresent(rmdir(path));
}

async function usage(path: string): Promise<{ bytes: number; inodes: number }> {
  let [bytes, inodes] = [0, 0];
  const count = async (_: string, stats: Stats) => {
    // Allocated blocks, which for sparse files are less than their size.
    bytes += stats.blocks * 512;
    inodes++;
  };
  const stats = await ifPresent(lstat(path));
  if (!stats) return { bytes, inodes };
  if (!stats.isDirectory()) await count(path, stats);
  else {
    await walkTree(path, { crossesDevices: false, onEntry: count, onDirectory: count }).catch((error: unknown) => {
      // A container may move directories concurrently: the count so far is the best result.
      if ((error as NodeJS.ErrnoException).code !== 'ESTALE') throw error;
    });
  }
  return { bytes, inodes };
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
