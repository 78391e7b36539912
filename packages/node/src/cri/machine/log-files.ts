/** Container logs that a runtime writes to files, in CRI's format. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from '@kruise/values/clock';
import { after } from '@kruise/values/clock';
import type { ContainerLogs, RuntimeService } from '../runtime.ts';
import { systemError } from './beneath.ts';
import { parseLogLine, timeOf } from './log-format.ts';

const chunkBytes = 64 * 1024;
const newline = 0x0a;
/** Poll interval of followed files; watching the directory does not work on every file system. */
const followMs = 200;

/** Reads the log files that the runtime reports for its containers. */
export function fileLogs(clock: Clock, runtime: Pick<RuntimeService, 'containerStatus'>): ContainerLogs {
  return {
    async *read({ containerId, tailLines, since, follow = false }, { signal } = {}) {
      const { status } = await runtime.containerStatus({ containerId });
      const file = await openLog(status.logPath);
      if (!file && !follow) return;
      const isRunning = async () => {
        const { status: current } = await runtime.containerStatus({ containerId });
        return current.state === 'CONTAINER_RUNNING' || current.state === 'CONTAINER_CREATED';
      };
      let log = file;
      try {
        let position = log && tailLines !== undefined ? await startOfTail(log, tailLines) : 0;
        let rest: Uint8Array = new Uint8Array();
        for (;;) {
          // The state is read before the file: all output written before the exit is then read for certain.
          const isFollowing = follow && (await isRunning());
          for (; log; ) {
            signal?.throwIfAborted();
            const { bytesRead, buffer } = await log.read(Buffer.alloc(chunkBytes), 0, chunkBytes, position);
            if (bytesRead === 0) break;
            position += bytesRead;
            const lines = splitLines(Buffer.concat([rest, buffer.subarray(0, bytesRead)]));
            rest = lines.rest;
            for (const line of lines.whole) {
              const entry = parseLogLine(line);
              if (entry && (since === undefined || timeOf(entry) >= since)) yield entry;
            }
          }
          if (!isFollowing) return;
          await after(clock, followMs, signal);
          const next = await openRotatedLog(status.logPath, log);
          if (next) {
            await log?.close();
            log = next;
            position = 0;
            rest = new Uint8Array();
          }
        }
      } finally {
        await log?.close();
      }
    },
  };
}

async function openLog(path: string): Promise<FileHandle | undefined> {
  try {
    // A log is a regular file that the runtime created. Through a symbolic link or a FIFO the kubelet would read other
    // files.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw systemError('EINVAL', 'not a regular file', path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the file that is now at the path, if the log was rotated. */
async function openRotatedLog(path: string, log: FileHandle | undefined): Promise<FileHandle | undefined> {
  const now = await openLog(path);
  if (!now || !log) return now;
  const [current, next] = await Promise.all([log.stat(), now.stat()]);
  if (current.ino !== next.ino) return now;
  await now.close();
  return undefined;
}

/** Returns the offset of the last `count` lines, searching from the end of the file. */
async function startOfTail(log: FileHandle, count: number): Promise<number> {
  const { size } = await log.stat();
  if (count === 0) return size;
  let seen = 0;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkBytes);
    const { buffer } = await log.read(Buffer.alloc(end - start), 0, end - start, start);
    for (let index = buffer.length - 1; index >= 0; index--) {
      // The newline at the end of the last line does not start another line.
      if (buffer[index] !== newline || start + index === size - 1) continue;
      if (++seen === count) return start + index + 1;
    }
    end = start;
  }
  return 0;
}

function splitLines(bytes: Buffer): { readonly whole: readonly Uint8Array[]; readonly rest: Uint8Array } {
  const whole: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    whole.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { whole, rest: bytes.subarray(start) };
}
