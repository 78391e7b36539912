import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { type SqliteThread, startSqliteThread } from '@kruise/apiserver/store/sqlite-worker';
import type { ClusterOptions } from './cluster-command.ts';
import {
  createDataDirectory,
  type DataDirectory,
  dataDirectory,
  isAlive,
  resetDataDirectory,
  runningCluster,
} from './data-directory.ts';

/** Results of the preparation that runs before the code of a server is loaded. */
export type Prepared = {
  readonly directory: DataDirectory;
  /** Thread of the store, which starts while the code of the server is loaded. */
  readonly thread: SqliteThread | undefined;
  /** True if the process runs in the background. */
  readonly isDetached: boolean;
};

/** Environment variable that marks the background process of `--detach`. */
const detachedMark = 'KRUISE_DETACHED';

/** Prepares to run a cluster in this process. Returns an exit code if there is nothing to run here. */
export async function prepare(options: ClusterOptions): Promise<Prepared | number> {
  const directory = dataDirectory(options.data);
  const running = runningCluster(directory);
  if (running) {
    console.error(`The cluster is already running at ${running.server} (pid ${running.pid}).`);
    console.error(`Stop it with: kruise down --data ${directory.path}`);
    return 1;
  }
  createDataDirectory(directory);
  if (options.reset) {
    resetDataDirectory(directory);
    createDataDirectory(directory);
  }
  const isDetached = process.env[detachedMark] !== undefined;
  if (options.detach && !isDetached) return detach(directory, options);
  const isInFile = !options.memory && !options.etcd;
  const thread = isInFile ? startSqliteThread({ path: directory.database, maxSizeBytes: undefined }) : undefined;
  return { directory, thread, isDetached };
}

/** Starts a background process and waits until it is ready. */
async function detach(directory: DataDirectory, options: ClusterOptions): Promise<number> {
  const { spawn } = await import('node:child_process');
  rmSync(directory.running, { force: true });
  const log = openSync(directory.log, 'a', 0o600);
  const args = process.argv.slice(2).filter((argument) => argument !== '--reset');
  const child = spawn(process.execPath, [process.argv[1]!, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, [detachedMark]: '1' },
  });
  closeSync(log);
  let exited = false;
  child.once('exit', () => {
    exited = true;
  });
  while (!runningCluster(directory)) {
    if (exited || (child.pid !== undefined && !isAlive(child.pid))) {
      console.error(`The cluster did not start. Last lines of its log ${directory.log}:`);
      console.error(readFileSync(directory.log, 'utf8').split('\n').slice(-20).join('\n'));
      return 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.unref();
  const { server } = runningCluster(directory)!;
  console.log(`Ready at ${server}`);
  console.log(`Stop it with: kruise down${options.data ? ` --data ${options.data}` : ''}`);
  return 0;
}
