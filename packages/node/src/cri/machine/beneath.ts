/**
 * Files below a directory that containers can write to. A container may replace any part of a path by a symbolic link
 * between two system calls, so paths are walked one directory at a time, each opened without following links and
 * relative to its parent's descriptor. Node has no `openat`; `/proc/self/fd/N/name` is equivalent on Linux, where nodes
 * run.
 */
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readdir, readlink } from 'node:fs/promises';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/**
 * Opens a file by name only, without side effects: a FIFO does not block, and a device is not touched. Linux's value on
 * all architectures.
 */
const O_PATH = 0o10000000;
const maxLinks = 40;

/**
 * Returns the path of an open file, or of a name in an open directory. The path refers to that file even after a
 * rename.
 */
export function pathOfOpen({ fd }: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${fd}` : `/proc/self/fd/${fd}/${name}`;
}

/** Returns an error in the format of Node's system errors. */
export function systemError(code: string, description: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${description}, '${path}'`), { code, path });
}

/**
 * Opens the entry at a path below a root, by name only. Symbolic links are followed while they stay below the root;
 * EXDEV if one does not. Missing directories are created with `makeMode`, if given.
 */
export async function openBeneath(root: string, path: readonly string[], makeMode?: number): Promise<FileHandle> {
  const openEntries = [await open(root, O_PATH | O_DIRECTORY)];
  const pending = path.toReversed();
  const fullPath = `${root}/${path.join('/')}`;
  const escapesRoot = () => systemError('EXDEV', 'path leads out of its directory', fullPath);
  let links = 0;
  try {
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (openEntries.length === 1) throw escapesRoot();
        await openEntries.pop()?.close();
        continue;
      }
      const at = pathOfOpen(openEntries.at(-1)!, name);
      const next = await openOrCreate(at, makeMode);
      openEntries.push(next);
      if (!(await next.stat()).isSymbolicLink()) continue;
      if (++links > maxLinks) throw systemError('ELOOP', 'too many symbolic links encountered', fullPath);
      await openEntries.pop()?.close();
      let target = await readlink(at);
      if (target.startsWith('/')) {
        if (target !== root && !target.startsWith(`${root}/`)) throw escapesRoot();
        target = target.slice(root.length);
        while (openEntries.length > 1) await openEntries.pop()?.close();
      }
      pending.push(...target.split('/').toReversed());
    }
    return openEntries.pop()!;
  } finally {
    for (const each of openEntries) await each.close();
  }
}

/** Opens the entry at a path by name only; a symbolic link is opened itself instead of followed. */
export function openItself(path: string): Promise<FileHandle> {
  return open(path, O_PATH | O_NOFOLLOW);
}

async function openOrCreate(at: string, makeMode: number | undefined): Promise<FileHandle> {
  try {
    return await openItself(at);
  } catch (error) {
    if (makeMode === undefined || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await mkdir(at);
  const made = await open(at, O_PATH | O_NOFOLLOW | O_DIRECTORY);
  // The mode must not depend on the umask.
  await chmod(pathOfOpen(made), makeMode);
  return made;
}

/** Callbacks of a walk. Paths are valid until the callback resolves. */
export type Visitor = {
  /** Called for each entry that is not a directory. */
  readonly onEntry: (path: string, stats: Stats) => Promise<void>;
  /** Called for a directory after its contents. */
  readonly onDirectory?: (path: string, stats: Stats) => Promise<void>;
  /** Called with the path of a directory below the top, after the walk has left it. */
  readonly onLeft?: (path: string) => Promise<void>;
  /** True if the walk enters directories on another file system. */
  readonly crossesDevices: boolean;
};

type Frame = { readonly stats: Stats; readonly name: string; readonly names: string[] };

/**
 * Walks a directory and everything below it. Symbolic links are never followed. One directory is open at a time, so
 * that a container cannot exhaust descriptors or the path length by nesting: the walk returns by `..` and checks that
 * this is the directory it came from. ESTALE if a directory was moved meanwhile.
 */
export async function walkTree(top: string, visitor: Visitor): Promise<void> {
  let here = await openDirectory(top);
  try {
    const frames: Frame[] = [await frameOf(here, '')];
    for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
      const name = frame.names.pop();
      if (name !== undefined) {
        const at = pathOfOpen(here, name);
        const stats = await ifPresent(lstat(at));
        if (!stats) continue;
        if (!stats.isDirectory()) {
          await visitor.onEntry(at, stats);
          continue;
        }
        if (!visitor.crossesDevices && stats.dev !== frames[0]!.stats.dev) continue;
        const below = await ifPresent(openDirectory(at));
        if (!below) continue;
        await here.close();
        here = below;
        frames.push(await frameOf(here, name));
        continue;
      }
      frames.pop();
      await visitor.onDirectory?.(pathOfOpen(here), frame.stats);
      const parent = frames.at(-1);
      if (!parent) return;
      const above = await open(pathOfOpen(here, '..'), O_RDONLY | O_DIRECTORY);
      await here.close();
      here = above;
      const { dev, ino } = await here.stat();
      if (dev !== parent.stats.dev || ino !== parent.stats.ino) {
        throw systemError('ESTALE', 'directory was moved while it was walked', top);
      }
      await visitor.onLeft?.(pathOfOpen(here, frame.name));
    }
  } finally {
    await here.close();
  }
}

function openDirectory(path: string): Promise<FileHandle> {
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
}

async function frameOf(directory: FileHandle, name: string): Promise<Frame> {
  return { stats: await directory.stat(), name, names: await readdir(pathOfOpen(directory)) };
}

/** Returns undefined if the entry does not exist, no longer exists, or has another type than expected. */
export async function ifPresent<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}
