/**
 * Keeps the logs of running containers from growing without end, where the runtime writes them to files (cri.md §5). A
 * log that has become too long is renamed, and the runtime begins a new one; the last but one of the renamed is
 * compressed, for the last may still be read by those who collect logs.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Log } from '@kruise/client/log';
import { type Clock, every } from '@kruise/values/clock';
import { formatTime, type Instant } from '@kruise/values/time';
import type { HostFiles, RuntimeService } from '../cri/runtime.ts';

export type LogLimits = {
  /** A log of this size is put away. */
  readonly maxSizeBytes: number;
  /** So many files a container has at most, the one being written included. */
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

/** Looks after logs until the signal is aborted. */
export function startLogRotation(context: RotationContext, limits: LogLimits, signal: AbortSignal): void {
  let isBusy = false;
  const rotate = async () => {
    // To compress may take longer than to wait.
    if (isBusy) return;
    isBusy = true;
    await rotateLogs(context, limits).finally(() => {
      isBusy = false;
    });
  };
  const onError = (error: unknown) => {
    if (!signal.aborted) context.log.warn({ error }, 'logs could not be rotated');
  };
  every(context.clock, limits.intervalMs, () => void rotate().catch(onError), signal);
}

/** Puts away the logs of running containers that are too long. */
export async function rotateLogs(context: RotationContext, limits: LogLimits): Promise<void> {
  const { runtime, log } = context;
  const { containers } = await runtime.listContainers({ filter: { state: 'CONTAINER_RUNNING' } });
  for (const { id } of containers) {
    try {
      await rotateLog(id, context, limits);
    } catch (error) {
      // Another container's log is none the worse for it.
      log.warn({ container: id, error }, 'a log could not be rotated');
    }
  }
}

async function rotateLog(containerId: string, context: RotationContext, limits: LogLimits): Promise<void> {
  const { runtime, files, clock } = context;
  const { logPath } = (await runtime.containerStatus({ containerId })).status;
  const stat = await files.stat(logPath);
  // Someone has taken it away: the runtime is to begin another.
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
    // The runtime goes on writing to the file it has, which is to be found under its name.
    await files.rename(rotated, logPath);
    throw error;
  }
}

/** What is to become of the files beside a log before it joins them: which go, and which are compressed. */
export function planRotation(
  names: readonly string[],
  log: string,
  maxFiles: number,
): { readonly removed: readonly string[]; readonly compressed: readonly string[] } {
  const beside = names.filter((name) => name.startsWith(`${log}.`)).sort();
  // What was begun and not ended, and what is there compressed as well.
  const isLeftOver = (name: string) => name.endsWith('.tmp') || beside.includes(`${name}.gz`);
  const whole = beside.filter((name) => !isLeftOver(name));
  const kept = whole.slice(Math.max(0, whole.length - (maxFiles - 2)));
  return {
    removed: beside.filter((name) => !kept.includes(name)),
    compressed: kept.filter((name) => !name.endsWith('.gz')),
  };
}

async function compress(path: string, files: RotationContext['files']): Promise<void> {
  const unfinished = `${path}.tmp`;
  await files.writeFile(unfinished, await promisify(gzip)(await files.readFile(path)), { isNew: true, mode: 0o640 });
  await files.rename(unfinished, `${path}.gz`);
  await files.remove(path);
}

/** `20260102-150405`. */
function suffixAt(now: Instant): string {
  const [date = '', time = ''] = formatTime(now).replace('Z', '').split('T');
  return `${date.replaceAll('-', '')}-${time.replaceAll(':', '')}`;
}
