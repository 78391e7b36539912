import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folder one cluster lives in, and what is where in it. */
export type DataDirectory = {
  readonly path: string;
  readonly pki: string;
  readonly store: string;
  readonly database: string;
  readonly log: string;
  /** Says which process runs the cluster, and where it listens. */
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

/** Deletes what a cluster had stored. Its certificates stay, so that a kubeconfig goes on working. */
export function resetDataDirectory(directory: DataDirectory): void {
  rmSync(directory.store, { recursive: true, force: true });
  rmSync(directory.log, { force: true });
}

/** A cluster that runs. */
export type Running = {
  readonly pid: number;
  /** When the process began, as the kernel counts: after a restart of the machine its id may be another's. */
  readonly begun?: string | undefined;
  readonly server: string;
  readonly startedAt: string;
  readonly command: string;
  /** Where its process can be spoken to. */
  readonly control?: string | undefined;
};

/** The cluster of a folder, if its process is alive. */
export function runningCluster(directory: DataDirectory): Running | undefined {
  if (!existsSync(directory.running)) return undefined;
  let running: Running;
  try {
    running = JSON.parse(readFileSync(directory.running, 'utf8'));
  } catch {
    // A file cut off half way was written by a process that died doing so.
    return undefined;
  }
  return isAlive(running.pid) && beginOf(running.pid) === running.begun ? running : undefined;
}

/** When a process began, where the machine tells. */
export function beginOf(pid: number): string | undefined {
  try {
    // The name of the program, in parentheses, may itself hold spaces; what follows it is numbers.
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

/** Writes a file as a whole or not at all. */
export function writeWhole(path: string, content: string, mode = 0o600): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, path);
}
