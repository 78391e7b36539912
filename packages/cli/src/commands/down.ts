import { type DataDirectory, dataDirectory, isAlive, runningCluster } from '../data-directory.ts';
import { readRuntimeRecord } from '../machine/directory.ts';

/** Time after which a cluster that does not stop is killed. */
const patienceMs = 15_000;

export async function down(options: { readonly data?: string }): Promise<number> {
  const directory = dataDirectory(options.data);
  const running = runningCluster(directory);
  if (!running) {
    console.error(`No cluster is running in ${directory.path}.`);
    await removeNode(directory);
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
  await removeNode(directory);
  console.log('Stopped.');
  return 0;
}

/** Removes the containers of a real node, which keep running when its kubelet stops. */
async function removeNode({ path }: DataDirectory): Promise<void> {
  if (!readRuntimeRecord(path)) return;
  const { removeContainers } = await import('../machine/remove-containers.ts');
  const count = await removeContainers(path);
  console.log(`Removed the containers of ${count} Pod${count === 1 ? '' : 's'}.`);
}
