/**
 * Log rotation of running containers, for runtimes that write log files. A log that exceeds its maximum size is renamed
 * and the runtime reopens the log. Rotated logs are compressed except for the newest, which log collectors may still
 * read.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Log } from '@kruise/client/log';
import { type Clock, every } from '@kruise/values/clock';
import { formatTime, type Instant } from '@kruise/values/time';
import type { HostFiles, RuntimeService } from '../../cri/runtime.ts';

export type LogLimits = {
  /** Size at which a log is rotated. */
  readonly maxSizeBytes: number;
  /** Maximum number of log files per container, including the current one. */
  readonly maxFiles: number;
  readonly intervalMs: number;
};

export const defaultLogLimits: LogLimits = { maxSizeBytes: 10 * 2 ** 20, maxFiles: 5, intervalMs: 10_000 };

export type RotationContext = {
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'containerStatus' | 'reopenContainerLog'>;
  readonly files: Pick<HostFiles, 'stat' | 'list' | 'rename' | 'remove' | 'readFile' | 'writeFile'>;
  readonly clock: Clock;
  readonly log: Log;
};

/** Rotates container logs until the signal is aborted. */
export function startLogRotation(context: RotationContext, limits: LogLimits, signal: AbortSignal): void {
  let isBusy = false;
  const rotate = async () => {
    // Compression may take longer than the interval.
    if (isBusy) return;
    isBusy = true;
    await rotateLogs(context, limits).finally(() => {
      isBusy = false;
    });
  };
  const onError = (error: unknown) => {
    if (!signal.aborted) context.log.warn({ error }, 'log rotation failed');
  };
  every(context.clock, limits.intervalMs, () => void rotate().catch(onError), signal);
}

/** Rotates the logs of running containers that exceed the maximum size. */
export async function rotateLogs(context: RotationContext, limits: LogLimits): Promise<void> {
  const { runtime, log } = context;
  const { containers } = await runtime.listContainers({ filter: { state: 'CONTAINER_RUNNING' } });
  for (const { id } of containers) {
    try {
      await rotateLog(id, context, limits);
    } catch (error) {
      // A failure must not affect the logs of other containers.
      log.warn({ container: id, error }, 'container log rotation failed');
    }
  }
}

async function rotateLog(containerId: string, context: RotationContext, limits: LogLimits): Promise<void> {
  const { runtime, files, clock } = context;
  const { logPath } = (await runtime.containerStatus({ containerId })).status;
  const stat = await files.stat(logPath);
  // The log was deleted: the runtime must create a new one.
  if (!stat) return runtime.reopenContainerLog({ containerId });
  if (stat.sizeBytes < limits.maxSizeBytes) return;

  const slash = logPath.lastIndexOf('/');
  const [folder, name] = [logPath.slice(0, slash), logPath.slice(slash + 1)];
  const { removed, compressed } = planRotation(await files.list(folder), name, limits.maxFiles);
  for (const each of removed) await files.remove(`${folder}/${each}`);
  for (const each of compressed) await compress(`${folder}/${each}`, files);
  const rotated = `${logPath}.${suffixAt(clock.now())}`;
  await files.rename(logPath, rotated);
  try {
    await runtime.reopenContainerLog({ containerId });
  } catch (error) {
    // The runtime keeps writing to the open file, so the file gets its name back.
    await files.rename(rotated, logPath);
    throw error;
  }
}

/** Returns the rotated logs to remove and to compress before the next rotation. */
export function planRotation(
  names: readonly string[],
  log: string,
  maxFiles: number,
): { readonly removed: readonly string[]; readonly compressed: readonly string[] } {
  const rotatedLogs = names.filter((name) => name.startsWith(`${log}.`)).sort();
  // Leftovers: unfinished compressions, and files that exist compressed as well.
  const isLeftover = (name: string) => name.endsWith('.tmp') || rotatedLogs.includes(`${name}.gz`);
  const complete = rotatedLogs.filter((name) => !isLeftover(name));
  const kept = complete.slice(Math.max(0, complete.length - (maxFiles - 2)));
  return {
    removed: rotatedLogs.filter((name) => !kept.includes(name)),
    compressed: kept.filter((name) => !name.endsWith('.gz')),
  };
}

async function compress(path: string, files: RotationContext['files']): Promise<void> {
  const unfinished = `${path}.tmp`;
  await files.writeFile(unfinished, await promisify(gzip)(await files.readFile(path)), { isNew: true, mode: 0o640 });
  await files.rename(unfinished, `${path}.gz`);
  await files.remove(path);
}

/** Returns the timestamp suffix of a rotated log: `20260102-150405`. */
function suffixAt(now: Instant): string {
  const [date = '', time = ''] = formatTime(now).replace('Z', '').split('T');
  return `${date.replaceAll('-', '')}-${time.replaceAll(':', '')}`;
}
