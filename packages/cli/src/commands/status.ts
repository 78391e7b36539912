import { type ProcessState, sendControlRequest } from '../control.ts';
import { dataDirectory, runningCluster } from '../data-directory.ts';

export async function status(options: { readonly data?: string; readonly json?: boolean }): Promise<number> {
  const directory = dataDirectory(options.data);
  const running = runningCluster(directory);
  const state = running?.control && (await sendControlRequest<ProcessState>(running.control, { ask: 'status' }));
  if (options.json) {
    console.log(
      JSON.stringify({ data: directory.path, running: running !== undefined, ...running, ...(state ? { state } : {}) }),
    );
    return running ? 0 : 1;
  }
  if (!running) {
    console.log(`Not running. Data: ${directory.path}`);
    return 1;
  }
  console.log(`Running since ${running.startedAt}, process ${running.pid}`);
  console.log(`API:        ${running.server}`);
  console.log(`Data:       ${directory.path}`);
  if (!state) return 0;
  console.log(`Components: ${state.components.join(', ') || 'none'}`);
  for (const [name, url] of Object.entries(state.endpoints)) console.log(`Metrics:    ${url}/metrics (${name})`);
  console.log(`Nodes:      ${state.nodes}`);
  console.log(`Objects:    ${state.objects}`);
  console.log(`Memory:     ${Math.round(state.memoryBytes / 2 ** 20)} MiB`);
  console.log(`Processor:  ${state.processorSeconds.toFixed(1)} s`);
  for (const line of stuckLines(state.stuck)) console.log(line);
  return 0;
}

/** Returns a line for each object that a controller cannot bring to its desired state. */
export function stuckLines(stuck: ProcessState['stuck']): readonly string[] {
  if (stuck.length === 0) return [];
  return [
    'Stuck:',
    ...stuck.map(({ controller, key, retriedForSeconds, message }) => {
      const minutes = Math.floor(retriedForSeconds / 60);
      return `  ${controller} ${key}, retried for ${minutes} min${message ? `: ${message}` : ''}`;
    }),
  ];
}
