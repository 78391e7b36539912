/** `tar`, which `kubectl cp` uses to copy files. */

import { trimTrailing } from '@kruise/values/trim';
import type { FileStat } from '../../runtime.ts';
import { readAll } from '../byte-streams.ts';
import { absolutePath } from '../file-tree.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';

const blockBytes = 512;

export const archiveCommands: Readonly<Record<string, Program>> = {
  tar: tool(async (context) => {
    const words = context.argv.slice(1);
    // The option letters may come without a dash, as in traditional tar.
    if (/^[a-z]+$/.test(words[0] ?? '')) words[0] = `-${words[0]}`;
    const { flags, values, operands } = parseArguments(words, 'fC');
    const directory = absolutePath(values.get('C') ?? '.', context.directory);
    const archive = values.get('f') ?? '-';
    if (flags.has('c')) {
      const bytes = Buffer.concat([...pack(context, directory, operands), Buffer.alloc(2 * blockBytes)]);
      if (archive === '-') await context.stdout.write(bytes);
      else context.container.files.write(absolutePath(archive, context.directory), bytes);
      return 0;
    }
    const bytes =
      archive === '-'
        ? await readAll(context.stdin, context.process)
        : Buffer.from(context.container.files.read(absolutePath(archive, context.directory)));
    for (const { name, type, mode, content, target } of unpack(bytes)) {
      if (flags.has('t')) {
        await writeText(context.stdout, `${name}\n`);
        continue;
      }
      extract(context, absolutePath(name.replace(/^\/+/, ''), directory), { type, mode, content, target });
      if (flags.has('v')) await writeText(context.stdout, `${name}\n`);
    }
    return 0;
  }),
};

function* pack({ container }: ProgramContext, directory: string, names: readonly string[]): Generator<Buffer> {
  const { files } = container;
  if (names.length === 0) throw new ToolError('empty archive');
  function* visit(name: string): Generator<Buffer> {
    const path = absolutePath(name, directory);
    const stat = files.lstat(path);
    if (!stat) throw new ToolError(`${name}: No such file or directory`);
    const archived = name.replace(/^\/+/, '');
    if (stat.type === 'directory') {
      yield header(`${archived}/`, stat, 0);
      for (const child of files.list(path)) yield* visit(`${name.replace(/\/$/, '')}/${child}`);
    } else if (stat.type === 'symlink') {
      yield header(archived, stat, 0, files.readLink(path));
    } else {
      const content = files.read(path);
      yield header(archived, stat, content.length);
      yield Buffer.concat([content, Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes)]);
    }
  }
  for (const name of names) yield* visit(name);
}

function header(name: string, { type, mode, uid, gid, modifiedAt }: FileStat, sizeBytes: number, target = ''): Buffer {
  const block = Buffer.alloc(blockBytes);
  if (Buffer.byteLength(name) > 100) throw new ToolError(`${name}: file name too long`);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  block.write(name, 0);
  block.write(octal(mode & 0o7777, 8), 100);
  block.write(octal(uid, 8), 108);
  block.write(octal(gid, 8), 116);
  block.write(octal(sizeBytes, 12), 124);
  block.write(octal(Math.max(0, Math.floor(modifiedAt / 1000)), 12), 136);
  block.write('        ', 148);
  block.write(type === 'directory' ? '5' : type === 'symlink' ? '2' : '0', 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

type Member = {
  readonly name: string;
  readonly type: string;
  readonly mode: number;
  readonly content: Buffer;
  readonly target: string;
};

function* unpack(bytes: Buffer): Generator<Member> {
  let longName: string | undefined;
  for (let at = 0; at + blockBytes <= bytes.length; ) {
    const block = bytes.subarray(at, at + blockBytes);
    at += blockBytes;
    if (block[0] === 0) continue;
    const text = (from: number, length: number) =>
      block.toString('utf8', from, from + length).replace(/\0[\s\S]*$/, '');
    const size = Number.parseInt(text(124, 12), 8);
    if (!Number.isInteger(size) || size < 0) throw new ToolError('corrupted octal value in tar header');
    const content = bytes.subarray(at, at + size);
    at += Math.ceil(size / blockBytes) * blockBytes;
    const type = text(156, 1) || '0';
    if (type === 'L') {
      longName = trimTrailing(content.toString(), '\0');
      continue;
    }
    // Extended headers are ignored except for a long path.
    if (type === 'x' || type === 'g') {
      const paths = content
        .toString()
        .split('\n')
        .filter((record) => /^\d+ path=/.test(record));
      longName = paths[0]?.slice(paths[0].indexOf('=') + 1) ?? longName;
      continue;
    }
    const prefix = text(345, 155);
    const name = longName ?? (prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`);
    longName = undefined;
    yield { name, type, mode: Number.parseInt(text(100, 8), 8) || 0o644, content, target: text(157, 100) };
  }
}

function extract(
  { container }: ProgramContext,
  path: string,
  { type, mode, content, target }: Omit<Member, 'name'>,
): void {
  const { files } = container;
  const trimmed = trimTrailing(path, '/');
  files.makeDirectory(type === '5' ? trimmed : trimmed.slice(0, trimmed.lastIndexOf('/')) || '/', { parents: true });
  if (type === '5') return;
  if (type === '2') {
    if (files.lstat(trimmed)) files.remove(trimmed);
    files.symlink(trimmed, target);
  } else {
    files.write(trimmed, Buffer.from(content), { mode });
  }
}
