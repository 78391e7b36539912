/**
 * In-memory file system of a node and its containers. An entry may be mounted in several trees, so that a change in one
 * is visible in all. Errors have Linux's codes.
 */
import type { Instant } from '@kruise/values/time';
import type { FileStat } from '../runtime.ts';

type Attributes = { mode: number; uid: number; gid: number; modifiedAt: Instant };
/** Text is kept as a string, which files can share; byte arrays would each need their own, larger buffer. */
type FileContent = string | Uint8Array;
export type FileEntry = Attributes & { readonly type: 'file'; content: FileContent };
export type DirectoryEntry = Attributes & { readonly type: 'directory'; readonly entries: Map<string, Entry> };
type SymlinkEntry = Attributes & { readonly type: 'symlink'; readonly target: string };
/** Device such as `/dev/null`: reads return nothing, and writes are discarded. */
type DeviceEntry = Attributes & { readonly type: 'characterDevice' };
export type Entry = FileEntry | DirectoryEntry | SymlinkEntry | DeviceEntry;

export type FileErrorCode =
  | 'ENOENT'
  | 'ENOTDIR'
  | 'EISDIR'
  | 'EEXIST'
  | 'ENOTEMPTY'
  | 'EROFS'
  | 'ELOOP'
  | 'EINVAL'
  | 'EBUSY'
  | 'EXDEV'
  | 'ENOSPC';

const descriptions: Readonly<Record<FileErrorCode, string>> = {
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  EISDIR: 'Is a directory',
  EEXIST: 'File exists',
  ENOTEMPTY: 'Directory not empty',
  EROFS: 'Read-only file system',
  ELOOP: 'Too many levels of symbolic links',
  EINVAL: 'Invalid argument',
  EBUSY: 'Resource busy',
  EXDEV: 'Path leads out of its directory',
  ENOSPC: 'No space left on device',
};

/** File error with the system's code, like Node's own file errors. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly code: FileErrorCode;
  readonly path: string;

  constructor(code: FileErrorCode, path: string) {
    super(`${code}: ${descriptions[code].toLowerCase()}, '${path}'`);
    this.code = code;
    this.path = path;
  }

  /** Message as commands print it. */
  get description(): string {
    return descriptions[this.code];
  }
}

/** Disk quota of a node, shared by all its trees. */
export type Space = { usedBytes: number; readonly limitBytes: number };

export type MountPoint = { readonly entry: Entry; readonly isReadonly: boolean };

/** Directory tree with entries of other trees mounted into it. */
export type FileTree = {
  /** Returns the entry at a path, following symbolic links. */
  stat(path: string): FileStat;
  /** Returns the entry at a path without following a symbolic link; undefined if it does not exist. */
  lstat(path: string): FileStat | undefined;
  exists(path: string): boolean;
  read(path: string): Uint8Array;
  write(path: string, content: string | Uint8Array, options?: WriteOptions): void;
  makeDirectory(path: string, options?: DirectoryOptions): void;
  list(path: string): readonly string[];
  symlink(path: string, target: string): void;
  readLink(path: string): string;
  rename(from: string, to: string): void;
  /** Removes a file, a symbolic link, or a directory with its contents; throws ENOENT if it does not exist. */
  remove(path: string): void;
  change(path: string, attributes: Partial<Attributes>): void;
  usage(path: string): { readonly bytes: number; readonly inodes: number };
  /** Returns the absolute path with all symbolic links resolved. */
  realPath(path: string): string;
  /** Returns the entry itself, following symbolic links, to be mounted elsewhere. */
  entryAt(path: string): Entry;
  /** Mounts an entry of another tree at a path, which is created if needed. */
  mount(path: string, point: MountPoint): void;
  /** Mounts by path. */
  readonly mounts: ReadonlyMap<string, MountPoint>;
};

/** `parents` also creates missing parent directories: with `parentMode`, or with the default mode of a shell. */
export type DirectoryOptions = { readonly mode?: number; readonly parents?: boolean; readonly parentMode?: number };

export type WriteOptions = { readonly mode?: number; readonly append?: boolean };

export type FileTreeOptions = {
  now(): Instant;
  readonly space: Space;
  readonly isReadonly?: boolean;
};

/**
 * Options of a path lookup: whether the last symbolic link is followed, and whether missing directories are created.
 */
type LookupOptions = {
  readonly followLast: boolean;
  readonly makesParents?: boolean;
  readonly parentMode?: number;
  readonly keepsWay?: boolean;
};
const toTarget: LookupOptions = { followLast: true };
const toLink: LookupOptions = { followLast: false };

const maxLinks = 40;
const directoryMode = 0o755;
const fileMode = 0o644;
const setGroup = 0o2000;
const slash = 0x2f;
const dot = 0x2e;

export function createFileTree({ now, space, isReadonly = false }: FileTreeOptions): FileTree {
  const newDirectory = (mode: number): DirectoryEntry => ({
    type: 'directory',
    entries: new Map(),
    mode,
    uid: 0,
    gid: 0,
    modifiedAt: now(),
  });
  const newFile = (content: FileContent, mode: number): FileEntry => ({
    type: 'file',
    content,
    mode,
    uid: 0,
    gid: 0,
    modifiedAt: now(),
  });
  const root = newDirectory(directoryMode);
  const mounts = new Map<string, MountPoint>();

  type Place = {
    readonly entry: Entry | undefined;
    /** Directory that contains, or would contain, the entry. */
    readonly parent: DirectoryEntry;
    readonly name: string;
    readonly isReadonly: boolean;
    /** Directories on the path to the entry, if requested. */
    readonly above: readonly Step[];
  };
  type Step = { readonly directory: DirectoryEntry; readonly name: string; readonly isReadonly: boolean };

  /** Resolves a path. Only its last part may be missing, unless missing directories are created. */
  function lookUp(path: string, options: LookupOptions): Place | FileErrorCode {
    const { followLast, makesParents = false, parentMode = directoryMode } = options;
    // The ancestors are rarely needed, and path lookup is the most frequent operation of a node.
    const keepsWay = options.keepsWay || mounts.size > 0 || hasParentReference(path);
    let links = 0;
    let pending = path;
    let above: Step[] = [];
    let here: Entry = root;
    let readonly = isReadonly;
    let start = nextStart(pending, 0);
    while (start < pending.length) {
      const end = endOf(pending, start);
      const name = pending.slice(start, end);
      start = nextStart(pending, end);
      if (name === '..') {
        const last = above.pop();
        if (last) [here, readonly] = [last.directory, last.isReadonly];
        continue;
      }
      if (here.type !== 'directory') return 'ENOTDIR';
      const directory: DirectoryEntry = here;
      const isLast = start === pending.length;
      const point = mounts.size === 0 ? undefined : mounts.get(pathOf(above, name));
      let entry = point?.entry ?? directory.entries.get(name);
      if (entry?.type === 'symlink' && (!isLast || followLast)) {
        if (++links > maxLinks) return 'ELOOP';
        if (!keepsWay && hasParentReference(entry.target)) return lookUp(path, { ...options, keepsWay: true });
        pending = `${entry.target}/${pending.slice(start)}`;
        start = nextStart(pending, 0);
        if (entry.target.startsWith('/')) [above, here, readonly] = [[], root, isReadonly];
        continue;
      }
      const isEntryReadonly: boolean = point?.isReadonly ?? readonly;
      if (isLast) return { entry, parent: directory, name, isReadonly: isEntryReadonly, above };
      if (entry === undefined) {
        if (!makesParents) return 'ENOENT';
        if (readonly) return 'EROFS';
        entry = newDirectory(parentMode);
        add({ parent: directory, name }, entry);
      }
      if (keepsWay) above.push({ directory, name, isReadonly: readonly });
      here = entry;
      readonly = isEntryReadonly;
    }
    // The path ended at the root or with `..`.
    const last = above.pop();
    return { entry: here, parent: last?.directory ?? root, name: last?.name ?? '', isReadonly: readonly, above };
  }

  function walk(path: string, options: LookupOptions): Place {
    const place = lookUp(path, options);
    if (typeof place === 'string') throw new FileError(place, path);
    return place;
  }

  function find(path: string, followLast = true): Entry {
    const { entry } = walk(path, followLast ? toTarget : toLink);
    if (entry === undefined) throw new FileError('ENOENT', path);
    return entry;
  }

  function writable(path: string, options: LookupOptions): Place {
    const place = walk(path, options);
    if (place.isReadonly) throw new FileError('EROFS', path);
    return place;
  }

  function directoryAt(path: string): DirectoryEntry {
    const entry = find(path);
    if (entry.type !== 'directory') throw new FileError('ENOTDIR', path);
    return entry;
  }

  function take(bytes: number, path: string): void {
    if (bytes > 0 && space.usedBytes + bytes > space.limitBytes) throw new FileError('ENOSPC', path);
    space.usedBytes += bytes;
  }

  function put({ parent, name }: Pick<Place, 'parent' | 'name'>, entry: Entry): void {
    parent.entries.set(name, entry);
    parent.modifiedAt = now();
  }

  /** Adds a new entry. A setgid directory passes its group on. */
  function add(place: Pick<Place, 'parent' | 'name'>, entry: Entry): void {
    const { mode, gid } = place.parent;
    if ((mode & setGroup) !== 0) {
      entry.gid = gid;
      if (entry.type === 'directory') entry.mode |= setGroup;
    }
    put(place, entry);
  }

  function makeDirectory(path: string, options: DirectoryOptions = {}): void {
    const { mode = directoryMode, parents = false, parentMode = directoryMode } = options;
    const place = walk(path, parents ? { followLast: true, makesParents: true, parentMode } : toLink);
    if (place.entry !== undefined) {
      if (parents && place.entry.type === 'directory') return;
      throw new FileError('EEXIST', path);
    }
    if (place.isReadonly) throw new FileError('EROFS', path);
    add(place, newDirectory(mode));
  }

  function write(path: string, content: string | Uint8Array, { mode, append = false }: WriteOptions = {}): void {
    const place = walk(path, toTarget);
    const { entry } = place;
    if (entry?.type === 'directory') throw new FileError('EISDIR', path);
    if (entry?.type === 'characterDevice') return;
    if (place.isReadonly) throw new FileError('EROFS', path);
    const sizeBytes = sizeOf(content);
    if (entry?.type === 'file') {
      take(append ? sizeBytes : sizeBytes - sizeOf(entry.content), path);
      entry.content = append ? Buffer.concat([bytesOf(entry.content), bytesOf(content)]) : content;
      entry.modifiedAt = now();
      if (mode !== undefined) entry.mode = mode;
      return;
    }
    take(sizeBytes, path);
    add(place, newFile(content, mode ?? fileMode));
  }

  function remove(path: string): void {
    const place = writable(path, toLink);
    if (place.entry === undefined) throw new FileError('ENOENT', path);
    if (place.entry === root || isMountPoint(place)) throw new FileError('EBUSY', path);
    space.usedBytes -= bytesBelow(place.entry);
    place.parent.entries.delete(place.name);
    place.parent.modifiedAt = now();
  }

  function rename(from: string, to: string): void {
    const options = { followLast: false, keepsWay: true };
    const source = writable(from, options);
    const goal = writable(to, options);
    const { entry } = source;
    if (entry === undefined) throw new FileError('ENOENT', from);
    if (isMountPoint(source) || isMountPoint(goal)) throw new FileError('EBUSY', from);
    if (entry === goal.entry) return;
    if (goal.parent === entry || goal.above.some(({ directory }) => directory === entry))
      throw new FileError('EINVAL', to);
    if (goal.entry !== undefined) {
      if (goal.entry.type === 'directory') {
        if (entry.type !== 'directory') throw new FileError('EISDIR', to);
        if (goal.entry.entries.size > 0) throw new FileError('ENOTEMPTY', to);
      } else if (entry.type === 'directory') {
        throw new FileError('ENOTDIR', to);
      }
      space.usedBytes -= bytesBelow(goal.entry);
    }
    source.parent.entries.delete(source.name);
    put(goal, entry);
  }

  function isMountPoint({ above, name }: Place): boolean {
    return mounts.size > 0 && mounts.has(pathOf(above, name));
  }

  function mount(path: string, point: MountPoint): void {
    const parts = partsOf(path);
    // As in real runtimes, a missing mount point is created even in a read-only tree.
    let directory = root;
    for (const [index, name] of parts.entries()) {
      const above = `/${parts.slice(0, index + 1).join('/')}`;
      const isLast = index === parts.length - 1;
      let entry = mounts.get(above)?.entry ?? directory.entries.get(name);
      if (entry?.type === 'symlink') entry = find(above);
      if (entry === undefined) {
        const isFile = isLast && point.entry.type !== 'directory';
        entry = isFile ? newFile('', fileMode) : newDirectory(directoryMode);
        directory.entries.set(name, entry);
      }
      if (isLast) break;
      if (entry.type !== 'directory') throw new FileError('ENOTDIR', path);
      directory = entry;
    }
    mounts.set(`/${parts.join('/')}`, point);
  }

  return {
    stat: (path) => statOf(find(path)),
    lstat(path) {
      const place = lookUp(path, toLink);
      if (place === 'ELOOP') throw new FileError(place, path);
      return typeof place === 'string' || !place.entry ? undefined : statOf(place.entry);
    },
    exists(path) {
      const place = lookUp(path, toTarget);
      return typeof place !== 'string' && place.entry !== undefined;
    },
    read(path) {
      const entry = find(path);
      if (entry.type === 'directory') throw new FileError('EISDIR', path);
      return entry.type === 'file' ? bytesOf(entry.content) : new Uint8Array();
    },
    write,
    makeDirectory,
    list: (path) => [...directoryAt(path).entries.keys()].sort(),
    symlink(path, target) {
      const place = writable(path, toLink);
      if (place.entry !== undefined) throw new FileError('EEXIST', path);
      add(place, { type: 'symlink', target, mode: 0o777, uid: 0, gid: 0, modifiedAt: now() });
    },
    readLink(path) {
      const entry = find(path, false);
      if (entry.type !== 'symlink') throw new FileError('EINVAL', path);
      return entry.target;
    },
    rename,
    remove,
    change(path, change) {
      const { entry } = writable(path, toTarget);
      if (entry === undefined) throw new FileError('ENOENT', path);
      Object.assign(entry, change);
    },
    usage(path) {
      const entry = find(path, false);
      return { bytes: bytesBelow(entry), inodes: inodesBelow(entry) };
    },
    realPath(path) {
      const place = walk(path, { followLast: true, keepsWay: true });
      if (place.entry === undefined) throw new FileError('ENOENT', path);
      return pathOf(place.above, place.name);
    },
    entryAt: (path) => find(path),
    mount,
    mounts,
  };
}

/** Returns a device such as `/dev/null`. */
export function deviceEntry(now: Instant): Entry {
  return { type: 'characterDevice', mode: 0o666, uid: 0, gid: 0, modifiedAt: now };
}

/** Returns the absolute path of a relative one. */
export function absolutePath(path: string, workingDirectory: string): string {
  return path.startsWith('/') ? path : `${workingDirectory}/${path}`;
}

/**
 * Reports whether a path may lead to a place or below it. A path with `..` always may, because that depends on the
 * files.
 */
export function mayBeBelow(path: string, place: string): boolean {
  if (isPlain(path) && isPlain(place)) return path === place || path.startsWith(`${place}/`);
  const parts = partsOf(path);
  return parts.includes('..') || partsOf(place).every((part, index) => part === parts[index]);
}

function pathOf(above: readonly { readonly name: string }[], name: string): string {
  let path = '';
  for (const step of above) path += `/${step.name}`;
  return `${path}/${name}`;
}

/** Returns the start of the next part of a path, skipping single dots; the length if there is none. */
function nextStart(path: string, from: number): number {
  let start = from;
  for (;;) {
    while (path.charCodeAt(start) === slash) start++;
    if (path.charCodeAt(start) !== dot) return start;
    if (start + 1 < path.length && path.charCodeAt(start + 1) !== slash) return start;
    start++;
  }
}

function endOf(path: string, start: number): number {
  const end = path.indexOf('/', start);
  return end < 0 ? path.length : end;
}

/** Reports whether a path is normalized: no empty parts, and no parts that start with a dot. */
function isPlain(path: string): boolean {
  return path.startsWith('/') && !path.endsWith('/') && !path.includes('//') && !path.includes('/.');
}

/** Reports whether a path contains `..` as a part. */
function hasParentReference(path: string): boolean {
  if (!path.includes('..')) return false;
  return path === '..' || path.startsWith('../') || path.endsWith('/..') || path.includes('/../');
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function bytesOf(content: FileContent): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content;
}

function sizeOf(content: FileContent): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length;
}

function statOf(entry: Entry): FileStat {
  const { type, mode, uid, gid, modifiedAt } = entry;
  const sizeBytes =
    entry.type === 'file'
      ? sizeOf(entry.content)
      : entry.type === 'symlink'
        ? entry.target.length
        : entry.type === 'directory'
          ? 4096
          : 0;
  return { type, sizeBytes, mode, uid, gid, modifiedAt };
}

function bytesBelow(entry: Entry): number {
  if (entry.type !== 'directory') return entry.type === 'file' ? sizeOf(entry.content) : 0;
  let bytes = 0;
  for (const each of entriesBelow(entry)) if (each.type === 'file') bytes += sizeOf(each.content);
  return bytes;
}

function inodesBelow(entry: Entry): number {
  let inodes = 0;
  for (const _ of entriesBelow(entry)) inodes++;
  return inodes;
}

/**
 * Yields an entry and everything below it. Iterative, because a container may nest directories deeper than the stack.
 */
function* entriesBelow(entry: Entry): Generator<Entry> {
  const pending = [entry];
  for (let each = pending.pop(); each; each = pending.pop()) {
    yield each;
    if (each.type === 'directory') for (const child of each.entries.values()) pending.push(child);
  }
}
