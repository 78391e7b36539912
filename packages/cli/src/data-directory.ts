import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Data directory of a cluster and the paths in it. */
export type DataDirectory = {
  readonly path: string;
  readonly pki: string;
  readonly store: string;
  readonly database: string;
  readonly log: string;
  /** File with the process that runs the cluster and its endpoint. */
  readonly running: string;
  readonly kubeconfig: string;
};

export function dataDirectory(given: string | undefined): DataDirectory {
  const path = resolve(given ?? process.env.KRUISE_DATA ?? join(homedir(), '.kruise'));
  return {
    path,
    pki: join(path, 'pki'),
    store: join(path, 'store'),
    database: join(path, 'store', 'kruise.db'),
    log: join(path, 'kruise.log'),
    running: join(path, 'running.json'),
    kubeconfig: join(path, 'kubeconfig'),
  };
}

export function createDataDirectory(directory: DataDirectory): void {
  mkdirSync(directory.path, { recursive: true, mode: 0o700 });
  mkdirSync(directory.pki, { recursive: true, mode: 0o700 });
  mkdirSync(directory.store, { recursive: true, mode: 0o700 });
}

/** Deletes the stored objects of a cluster. Its certificates are kept, so that existing kubeconfigs stay valid. */
export function resetDataDirectory(directory: DataDirectory): void {
  rmSync(directory.store, { recursive: true, force: true });
  rmSync(directory.log, { force: true });
}

/** A running cluster, as `running.json` describes it. */
export type Running = {
  readonly pid: number;
  /** Start time of the process in kernel ticks: after a reboot another process may have the same pid. */
  readonly processStartTime?: string | undefined;
  readonly server: string;
  readonly startedAt: string;
  readonly command: string;
  /** Path of the control socket. */
  readonly control?: string | undefined;
};

/** Returns the running cluster of a data directory; undefined if its process is not alive. */
export function runningCluster(directory: DataDirectory): Running | undefined {
  if (!existsSync(directory.running)) return undefined;
  let running: Running;
  try {
    running = JSON.parse(readFileSync(directory.running, 'utf8'));
  } catch {
    // A truncated file was written by a process that died while it wrote.
    return undefined;
  }
  return isAlive(running.pid) && processStartTime(running.pid) === running.processStartTime ? running : undefined;
}

/** Returns the start time of a process, where the system has /proc. */
export function processStartTime(pid: number): string | undefined {
  try {
    // The command name, in parentheses, may contain spaces; only numbers follow it.
    const [, numbers = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/);
    return numbers.split(' ')[19];
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Writes a file atomically. */
export function writeFileAtomically(path: string, content: string, mode = 0o600): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, path);
}
