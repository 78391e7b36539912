import { parseDuration } from '@kruise/values/duration';
import { type ControlRequest, type NodeState, sendControlRequest } from '../control.ts';
import { dataDirectory, runningCluster } from '../data-directory.ts';

type Place = { readonly data?: string };

/** Prints the simulated nodes of a running cluster. */
export async function listNodes(options: Place): Promise<number> {
  const nodes = await ask<readonly NodeState[]>(options, { ask: 'nodes' });
  for (const { name, address, isUp } of nodes) console.log(`${name}\t${address}\t${isUp ? 'up' : 'down'}`);
  return 0;
}

export async function addNodes(
  name: string | undefined,
  options: Place & { readonly count: string; readonly label?: readonly string[] },
): Promise<number> {
  const labels = Object.fromEntries((options.label ?? []).map(labelOf));
  const count = name === undefined ? Number(options.count) : 1;
  if (!Number.isInteger(count) || count < 1) throw new Error(`--count must be a positive number, not ${options.count}`);
  for (let number = 0; number < count; number++) {
    const added = await ask<string>(options, { ask: 'add-node', labels, ...(name === undefined ? {} : { name }) });
    console.log(`node/${added} added`);
  }
  return 0;
}

export async function changeNode(
  what: 'stop-node' | 'lose-node' | 'start-node' | 'remove-node',
  name: string,
  options: Place,
): Promise<number> {
  await ask(options, { ask: what, name });
  return 0;
}

export async function slowNode(name: string, delay: string, options: Place): Promise<number> {
  const nanoseconds = parseDuration(delay);
  await ask(options, { ask: 'slow-node', name, delayMs: Number(nanoseconds) / 1e6 });
  return 0;
}

function labelOf(text: string): readonly [string, string] {
  const [key = '', value = ''] = text.split('=', 2);
  return [key, value];
}

async function ask<T>({ data }: Place, controlRequest: ControlRequest): Promise<T> {
  const directory = dataDirectory(data);
  const running = runningCluster(directory);
  if (!running) throw new Error(`no cluster is running in ${directory.path}: start one with kruise up`);
  if (!running.control)
    throw new Error(
      'the running process is only an API server and has no simulated nodes: start the cluster with kruise up',
    );
  return sendControlRequest(running.control, controlRequest);
}
