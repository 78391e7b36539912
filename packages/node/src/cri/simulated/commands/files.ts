/** File commands. */

import { createHash } from 'node:crypto';
import { trimTrailing } from '@kruise/values/trim';
import { inputOf, readAll } from '../byte-streams.ts';
import { absolutePath, FileError, type FileTree } from '../file-tree.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { matches } from '../shell/pattern.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';

export const fileCommands: Readonly<Record<string, Program>> = {
  ls,
  mkdir: tool((context) => {
    const { flags, values, operands } = parseArguments(context.argv.slice(1), 'm');
    const mode = values.get('m');
    for (const path of needed(operands)) {
      try {
        const options = { parents: flags.has('p'), ...(mode !== undefined && { mode: Number.parseInt(mode, 8) }) };
        filesOf(context).makeDirectory(pathOf(context, path), options);
      } catch (error) {
        throw renamed(error, (reason) => `can't create directory '${path}': ${reason}`);
      }
    }
    return 0;
  }),
  rm: tool((context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    const files = filesOf(context);
    const isRecursive = flags.has('r') || flags.has('R');
    let exitCode = 0;
    for (const path of operands) {
      const full = pathOf(context, path);
      const stat = files.lstat(full);
      if (!stat) {
        if (flags.has('f')) continue;
        throw new ToolError(`can't remove '${path}': No such file or directory`);
      }
      if (stat.type === 'directory' && !isRecursive) throw new ToolError(`'${path}' is a directory`);
      try {
        files.remove(full);
      } catch (error) {
        if (!flags.has('f')) throw renamed(error, (reason) => `can't remove '${path}': ${reason}`);
        exitCode = 1;
      }
    }
    return exitCode;
  }),
  rmdir: tool((context) => {
    const files = filesOf(context);
    for (const path of needed(parseArguments(context.argv.slice(1)).operands)) {
      const full = pathOf(context, path);
      if (files.list(full).length > 0) throw new ToolError(`'${path}': Directory not empty`);
      files.remove(full);
    }
    return 0;
  }),
  touch: tool((context) => {
    const files = filesOf(context);
    for (const path of needed(parseArguments(context.argv.slice(1), 'dt').operands)) {
      const full = pathOf(context, path);
      if (files.exists(full)) files.change(full, { modifiedAt: context.container.clock.now() });
      else files.write(full, '');
    }
    return 0;
  }),
  cp: tool((context) => copyOrMove(context, copyEntry)),
  mv: tool(async (context) => {
    const { flags } = parseArguments(context.argv.slice(1));
    return copyOrMove(context, async (files, from, to) => {
      const goal = files.exists(to) && files.stat(to).type === 'directory' ? `${to}/${baseName(from)}` : to;
      try {
        files.rename(from, goal);
      } catch (error) {
        // A move between file systems, such as mounts, is a copy.
        if (!(error instanceof FileError && error.code === 'EBUSY')) throw error;
        copyEntry(files, from, goal);
        files.remove(from);
      }
      if (flags.has('v')) await writeText(context.stdout, `'${from}' -> '${goal}'\n`);
    });
  }),
  ln: tool((context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    const [target = '', link = baseName(target)] = operands;
    const files = filesOf(context);
    const full = pathOf(context, link);
    if (flags.has('f') && files.lstat(full)) files.remove(full);
    if (flags.has('s')) files.symlink(full, target);
    else files.write(full, files.read(pathOf(context, target)));
    return 0;
  }),
  chmod: tool((context) => {
    const { operands } = parseArguments(context.argv.slice(1).filter((word) => !/^-R/.test(word)));
    const [mode = '', ...paths] = operands;
    for (const path of paths) {
      const full = pathOf(context, path);
      filesOf(context).change(full, { mode: modeOf(mode, filesOf(context).stat(full).mode) });
    }
    return 0;
  }),
  chown: tool((context) => changeOwner(context, /^(\d+)?(?:[:.](\d+))?$/)),
  chgrp: tool((context) => changeOwner(context, /^()(\d+)$/)),
  stat: tool(async (context) => {
    const { values, operands } = parseArguments(context.argv.slice(1), 'c');
    for (const path of needed(operands)) {
      const stat = filesOf(context).stat(pathOf(context, path));
      const fields: Readonly<Record<string, string>> = {
        a: stat.mode.toString(8),
        A: `${stat.type === 'directory' ? 'd' : '-'}${permissions(stat.mode)}`,
        s: String(stat.sizeBytes),
        n: path,
        u: String(stat.uid),
        g: String(stat.gid),
        U: stat.uid === 0 ? 'root' : String(stat.uid),
        G: stat.gid === 0 ? 'root' : String(stat.gid),
        Y: String(Math.floor(stat.modifiedAt / 1000)),
        F: stat.type === 'file' ? 'regular file' : stat.type,
      };
      const format = values.get('c') ?? '  File: %n\n  Size: %s\t%F\nAccess: (0%a/%A)  Uid: (%u/%U)   Gid: (%g/%G)';
      await writeText(context.stdout, `${format.replace(/%(\w)/g, (_, letter: string) => fields[letter] ?? '?')}\n`);
    }
    return 0;
  }),
  readlink: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    const full = pathOf(context, needed(operands)[0] as string);
    const files = filesOf(context);
    if (!flags.has('f') && files.lstat(full)?.type !== 'symlink') return 1;
    await writeText(context.stdout, `${flags.has('f') ? files.realPath(full) : files.readLink(full)}\n`);
    return 0;
  }),
  realpath: tool(async (context) => {
    await writeText(context.stdout, `${filesOf(context).realPath(pathOf(context, context.argv[1] ?? ''))}\n`);
    return 0;
  }),
  find: tool(find),
  du: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    for (const path of operands.length === 0 ? ['.'] : operands) {
      const { bytes } = filesOf(context).usage(pathOf(context, path));
      await writeText(context.stdout, `${flags.has('b') ? bytes : Math.ceil(bytes / 1024)}\t${path}\n`);
    }
    return 0;
  }),
  df: tool(async ({ stdout }) => {
    await writeText(
      stdout,
      'Filesystem           1K-blocks      Used Available Use% Mounted on\noverlay               104857600  10485760  94371840  10% /\n',
    );
    return 0;
  }),
  mktemp: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    const template = operands[0] ?? '/tmp/tmp.XXXXXX';
    const { random } = context.container;
    const path = pathOf(
      context,
      template.replace(/(?<!X)X+$/, (run) => [...run].map(() => Math.floor(random.next() * 36).toString(36)).join('')),
    );
    if (flags.has('d')) filesOf(context).makeDirectory(path, { mode: 0o700 });
    else filesOf(context).write(path, '', { mode: 0o600 });
    await writeText(context.stdout, `${path}\n`);
    return 0;
  }),
  dd: tool(dd),
  basename: tool(async ({ argv, stdout }) => {
    const name = baseName(argv[1] ?? '');
    const suffix = argv[2] ?? '';
    await writeText(
      stdout,
      `${suffix !== '' && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name}\n`,
    );
    return 0;
  }),
  dirname: tool(async ({ argv, stdout }) => {
    const path = trimTrailing(argv[1] ?? '', '/');
    const slash = path.lastIndexOf('/');
    await writeText(stdout, `${slash < 0 ? '.' : path.slice(0, slash) || '/'}\n`);
    return 0;
  }),
  md5sum: tool((context) => checksum(context, 'md5')),
  sha1sum: tool((context) => checksum(context, 'sha1')),
  sha256sum: tool((context) => checksum(context, 'sha256')),
  sync: () => 0,
  mount: tool(async ({ container, stdout }) => {
    await writeText(stdout, 'overlay on / type overlay (rw,relatime)\n');
    for (const [path, { isReadonly }] of container.files.mounts) {
      await writeText(stdout, `tmpfs on ${path} type tmpfs (${isReadonly ? 'ro' : 'rw'},relatime)\n`);
    }
    return 0;
  }),
};

export function filesOf({ container }: ProgramContext): FileTree {
  return container.files;
}

export function pathOf({ directory }: ProgramContext, path: string): string {
  return absolutePath(path, directory);
}

export function baseName(path: string): string {
  return trimTrailing(path, '/').replace(/^.*\//, '') || (path.startsWith('/') ? '/' : '');
}

function needed(operands: readonly string[]): readonly string[] {
  if (operands.length === 0) throw new ToolError('missing operand');
  return operands;
}

function renamed(error: unknown, message: (reason: string) => string): unknown {
  return error instanceof FileError ? new ToolError(message(error.description)) : error;
}

async function ls(context: ProgramContext): Promise<number> {
  const { flags, operands } = parseArguments(context.argv.slice(1));
  const files = filesOf(context);
  let exitCode = 0;
  const show = async (name: string, full: string) => {
    const stat = files.lstat(full);
    if (!stat) return;
    if (!flags.has('l')) {
      await writeText(context.stdout, `${name}\n`);
      return;
    }
    const kind = stat.type === 'directory' ? 'd' : stat.type === 'symlink' ? 'l' : stat.type === 'file' ? '-' : 'c';
    const time = new Date(stat.modifiedAt).toUTCString().slice(5, 22);
    const target = stat.type === 'symlink' ? ` -> ${files.readLink(full)}` : '';
    const owner = stat.uid === 0 ? 'root' : String(stat.uid);
    const group = stat.gid === 0 ? 'root' : String(stat.gid);
    await writeText(
      context.stdout,
      `${kind}${permissions(stat.mode)}    1 ${owner.padEnd(8)} ${group.padEnd(8)} ${String(stat.sizeBytes).padStart(9)} ${time} ${name}${target}\n`,
    );
  };
  const paths = operands.length === 0 ? ['.'] : operands;
  for (const path of paths) {
    const full = pathOf(context, path);
    if (!files.exists(full) && !files.lstat(full)) {
      await writeText(context.stderr, `ls: ${path}: No such file or directory\n`);
      exitCode = 1;
      continue;
    }
    if (flags.has('d') || !files.exists(full) || files.stat(full).type !== 'directory') {
      await show(path, full);
      continue;
    }
    if (paths.length > 1) await writeText(context.stdout, `${path}:\n`);
    for (const name of files.list(full)) {
      if (!name.startsWith('.') || flags.has('a') || flags.has('A')) await show(name, `${full}/${name}`);
    }
  }
  return exitCode;
}

function permissions(mode: number): string {
  return [...'rwxrwxrwx'].map((letter, index) => (mode & (1 << (8 - index)) ? letter : '-')).join('');
}

type Transfer = (files: FileTree, from: string, to: string) => void | Promise<void>;

async function copyOrMove(context: ProgramContext, transfer: Transfer): Promise<number> {
  const { flags, operands } = parseArguments(context.argv.slice(1));
  const files = filesOf(context);
  if (operands.length < 2) throw new ToolError('missing file operand');
  const sources = operands.slice(0, -1);
  const goal = pathOf(context, operands.at(-1) as string);
  for (const source of sources) {
    const from = pathOf(context, source);
    if (!files.exists(from)) throw new ToolError(`can't stat '${source}': No such file or directory`);
    const isCopy = transfer === copyEntry;
    if (isCopy && files.stat(from).type === 'directory' && !flags.has('r') && !flags.has('R') && !flags.has('a')) {
      throw new ToolError(`omitting directory '${source}'`);
    }
    await transfer(files, from, goal);
  }
  return 0;
}

function copyEntry(files: FileTree, from: string, to: string): void {
  const isInto = files.exists(to) && files.stat(to).type === 'directory';
  const goal = isInto ? `${to}/${baseName(from)}` : to;
  const stat = files.stat(from);
  if (stat.type !== 'directory') {
    files.write(goal, files.read(from), { mode: stat.mode });
    return;
  }
  if (!files.exists(goal)) files.makeDirectory(goal, { mode: stat.mode });
  for (const name of files.list(from)) copyEntry(files, `${from}/${name}`, `${goal}/${name}`);
}

function modeOf(text: string, before: number): number {
  if (/^[0-7]{1,4}$/.test(text)) return Number.parseInt(text, 8);
  const [, classes = '', operator, letters = ''] = /^([ugoa]*)([-+=])([rwxX]*)$/.exec(text) ?? [];
  if (operator === undefined) throw new ToolError(`invalid mode '${text}'`);
  let bits = 0;
  const groups = classes === '' || classes.includes('a') ? 'ugo' : classes;
  for (const group of groups) {
    const shift = group === 'u' ? 6 : group === 'g' ? 3 : 0;
    for (const letter of letters) bits |= (letter === 'r' ? 4 : letter === 'w' ? 2 : 1) << shift;
  }
  return operator === '+' ? before | bits : operator === '-' ? before & ~bits : bits;
}

function changeOwner(context: ProgramContext, format: RegExp): number {
  const { operands } = parseArguments(context.argv.slice(1));
  const [owner = '', ...paths] = operands;
  const [, uid, gid] = format.exec(owner.replaceAll('root', '0')) ?? [];
  for (const path of paths) {
    filesOf(context).change(pathOf(context, path), {
      ...(uid ? { uid: Number(uid) } : {}),
      ...(gid ? { gid: Number(gid) } : {}),
    });
  }
  return 0;
}

async function find(context: ProgramContext): Promise<number> {
  const words = context.argv.slice(1);
  const starts: string[] = [];
  while (words.length > 0 && !/^[-!(]/.test(words[0] as string)) starts.push(words.shift() as string);
  const option = (name: string) => {
    const index = words.indexOf(name);
    return index < 0 ? undefined : words[index + 1];
  };
  const name = option('-name');
  const type = option('-type');
  const pattern = name === undefined ? undefined : [...name].map((character) => ({ character, isLiteral: false }));
  const files = filesOf(context);
  const visit = async (path: string): Promise<void> => {
    const full = pathOf(context, path);
    const stat = files.lstat(full);
    if (!stat) throw new FileError('ENOENT', path);
    const isWanted = type === undefined || stat.type.startsWith(type === 'l' ? 'symlink' : type);
    if (isWanted && (!pattern || matches(pattern, baseName(path)))) await writeText(context.stdout, `${path}\n`);
    if (stat.type !== 'directory') return;
    for (const child of files.list(full)) await visit(path.endsWith('/') ? `${path}${child}` : `${path}/${child}`);
  };
  for (const start of starts.length === 0 ? ['.'] : starts) await visit(start);
  return 0;
}

const sizeUnits: Readonly<Record<string, number>> = {
  '': 1,
  c: 1,
  k: 1024,
  K: 1024,
  kB: 1000,
  M: 1024 ** 2,
  MB: 1e6,
  G: 1024 ** 3,
  GB: 1e9,
};

/** More than the disk quota of a node. */
const maxZeroBytes = 1024 ** 3;

/** Copies blocks; a block larger than the container's memory limit gets it OOM-killed. */
async function dd(context: ProgramContext): Promise<number> {
  const { argv, container, process, stdin, stdout, stderr } = context;
  const options = new Map(argv.slice(1).map((word) => word.split('=', 2) as [string, string]));
  const size = (text: string) => {
    const [, number, unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? [];
    if (number === undefined || !(unit in sizeUnits)) throw new ToolError(`invalid number '${text}'`);
    return Number(number) * (sizeUnits[unit] as number);
  };
  const blockBytes = size(options.get('bs') ?? '512');
  const count = options.get('count');
  const source = options.get('if');
  const target = options.get('of');
  container.takeMemory(blockBytes);
  const isEndless = source === '/dev/zero' || source === '/dev/urandom' || source === '/dev/random';
  if (isEndless && count === undefined) {
    // Without a count the copy runs until the disk is full, or forever for `/dev/null`.
    if (target === '/dev/null') return process.wait<number>(() => undefined);
    throw new FileError('ENOSPC', target ?? 'stdout');
  }
  const wanted = count === undefined ? Number.POSITIVE_INFINITY : size(count) * blockBytes;
  if (isEndless && target !== '/dev/null' && wanted > maxZeroBytes) throw new FileError('ENOSPC', target ?? 'stdout');
  const input = isEndless
    ? undefined
    : source === undefined
      ? stdin
      : inputOf(filesOf(context).read(pathOf(context, source)));
  let written = 0;
  if (target === '/dev/null' && isEndless) {
    written = wanted;
  } else {
    const bytes = input ? await readAll(input, process) : Buffer.alloc(wanted);
    const kept = bytes.subarray(0, Math.min(bytes.length, wanted));
    written = kept.length;
    if (target === undefined) await stdout.write(kept);
    else filesOf(context).write(pathOf(context, target), kept);
  }
  const blocks = Math.floor(written / blockBytes);
  await writeText(stderr, `${blocks}+0 records in\n${blocks}+0 records out\n`);
  return 0;
}

async function checksum(context: ProgramContext, algorithm: string): Promise<number> {
  const { operands } = parseArguments(context.argv.slice(1));
  const print = (bytes: Uint8Array, name: string) =>
    writeText(context.stdout, `${createHash(algorithm).update(bytes).digest('hex')}  ${name}\n`);
  if (operands.length === 0) await print(await readAll(context.stdin, context.process), '-');
  for (const path of operands) await print(filesOf(context).read(pathOf(context, path)), path);
  return 0;
}
