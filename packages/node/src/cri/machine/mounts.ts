/** Bind mounts of the local machine, created and removed with util-linux, because Node has no system calls for them. */
import { execFile, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, mkdir, open, readFile, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { MemoryMountOptions } from '../runtime.ts';
import { ifPresent } from './beneath.ts';

/**
 * Mounts an open file or directory at a path. The mount refers to that open file: a file that a container has put in
 * its place since then is ignored.
 */
export async function bindOpen(source: FileHandle, target: string): Promise<void> {
  const wanted = await source.stat();
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  const existing = await ifPresent(lstat(target));
  if (existing?.dev === wanted.dev && existing.ino === wanted.ino) return;
  if (existing) await unmountBelow(target);
  await makePlaceholder(target, wanted.isDirectory());
  await mount(source, target);
}

/** Mounts a tmpfs or hugetlbfs at a directory, which is created; does nothing if a file system is mounted there. */
export async function mountMemory(path: string, { mode, sizeBytes, hugePages }: MemoryMountOptions): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o750 });
  const [here, above] = await Promise.all([lstat(path), lstat(dirname(path))]);
  if (!here.isDirectory()) throw new Error(`${path} is not a directory`);
  if (here.dev !== above.dev) return;
  const options = [
    `mode=${mode.toString(8)}`,
    ...(sizeBytes === undefined ? [] : [`size=${Math.ceil(sizeBytes)}`]),
    // The kernel knows the units of Kubernetes without their i.
    ...(hugePages === undefined ? [] : [`pagesize=${hugePages.replace(/i$/, '')}`]),
  ];
  const type = hugePages === undefined ? 'tmpfs' : 'hugetlbfs';
  await promisify(execFile)('mount', ['--no-canonicalize', '-t', type, '-o', options.join(), type, path]);
}

/** Unmounts all mounts at a path or below it, the deepest first. */
export async function unmountBelow(path: string): Promise<void> {
  for (const each of (await mountsBelow(path)).toReversed()) {
    await promisify(execFile)('umount', ['--no-canonicalize', each]);
  }
}

/** Returns the mount points at a path and below it, in mount order. */
export async function mountsBelow(path: string): Promise<readonly string[]> {
  const real = await ifPresent(realpath(path));
  if (real === undefined) return [];
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  return table
    .split('\n')
    .map((line) =>
      (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8))),
    )
    .filter((point) => point === real || point.startsWith(`${real}/`));
}

async function makePlaceholder(target: string, isDirectory: boolean): Promise<void> {
  const existing = await ifPresent(lstat(target));
  if (existing && existing.isDirectory() === isDirectory) return;
  if (isDirectory) await mkdir(target, { mode: 0o750 });
  else await (await open(target, constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o640)).close();
}

/**
 * The child process inherits the descriptor: a path, even one below /proc, would be canonicalized and resolved again.
 */
async function mount(source: FileHandle, target: string): Promise<void> {
  const args = ['--no-canonicalize', '--bind', '/proc/self/fd/3', target];
  const child = spawn('mount', args, { stdio: ['ignore', 'ignore', 'pipe', source.fd] });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [message, code] = await Promise.race([Promise.all([text(child.stderr!), ended]), failed]);
  if (code !== 0) throw new Error(`mount failed: ${message.trim()}`);
}
