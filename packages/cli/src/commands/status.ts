import { dataDirectory, runningCluster } from '../data-directory.ts';

export async function status(options: { readonly data?: string; readonly json?: boolean }): Promise<number> {
  const directory = dataDirectory(options.data);
  const running = runningCluster(directory);
  if (options.json) {
    console.log(JSON.stringify({ data: directory.path, running: running !== undefined, ...running }));
    return running ? 0 : 1;
  }
  if (!running) {
    console.log(`Not running. Data: ${directory.path}`);
    return 1;
  }
  console.log(`Running since ${running.startedAt}, process ${running.pid}`);
  console.log(`API:  ${running.server}`);
  console.log(`Data: ${directory.path}`);
  return 0;
}
