import { closeSync, fstatSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { AuditSink } from './audit.ts';

export type LogFileOptions = {
  readonly path: string;
  /** Size in bytes at which the file is rotated. */
  readonly maxSizeBytes: number;
  /** Number of rotated files to keep. */
  readonly maxBackups: number;
  readonly nowMs: () => number;
};

/**
 * Appends lines to a file, and rotates the file when it reaches the maximum size. Lines are written before the response
 * is sent.
 */
export function openLogFile({ path, maxSizeBytes, maxBackups, nowMs }: LogFileOptions): AuditSink & { close(): void } {
  let file = openSync(path, 'a', 0o600);
  let size = fstatSync(file).size;
  const [directory, extension] = [dirname(path), extname(path)];
  const stem = basename(path, extension);

  function rotate(): void {
    closeSync(file);
    const when = new Date(nowMs()).toISOString().slice(0, 23).replaceAll(':', '-');
    renameSync(path, join(directory, `${stem}-${when}${extension}`));
    const former = readdirSync(directory)
      .filter((name) => name.startsWith(`${stem}-`) && name.endsWith(extension))
      .sort();
    for (const name of former.slice(0, Math.max(0, former.length - maxBackups))) rmSync(join(directory, name));
    file = openSync(path, 'a', 0o600);
    size = 0;
  }

  function write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (size > 0 && size + bytes.length > maxSizeBytes) rotate();
    writeSync(file, bytes);
    size += bytes.length;
  }
  return Object.assign(write, { close: () => closeSync(file) });
}
