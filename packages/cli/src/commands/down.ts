import { dataDirectory, isAlive, runningCluster } from '../data-directory.ts';

/** Time after which a cluster that does not stop is killed. */
const patienceMs = 15_000;

export async function down(options: { readonly data?: string }): Promise<number> {
  const directory = dataDirectory(options.data);
  const running = runningCluster(directory);
  if (!running) {
    console.error(`No cluster is running in ${directory.path}.`);
    return 0;
  }
  process.kill(running.pid, 'SIGTERM');
  const deadline = performance.now() + patienceMs;
  while (isAlive(running.pid)) {
    if (performance.now() > deadline) {
      console.error('The cluster did not stop in time and was killed. All acknowledged writes are stored.');
      process.kill(running.pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  console.log('Stopped.');
  return 0;
}
