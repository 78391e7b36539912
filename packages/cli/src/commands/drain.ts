import { connect } from '@kruise/client/connect';
import { parseDuration } from '@kruise/values/duration';
import { systemClock } from '@kruise/values/system';
import { dataDirectory, runningCluster } from '../data-directory.ts';
import { drainNode } from '../machine/drain.ts';

export type DrainCommandOptions = { readonly data?: string; readonly timeout: string };

/** Cordons a node and evicts its Pods. */
export async function drain(name: string, { data, timeout }: DrainCommandOptions): Promise<number> {
  const directory = dataDirectory(data);
  if (!runningCluster(directory))
    throw new Error(`no cluster is running in ${directory.path}: start one with kruise up`);
  const { client, close } = connect(systemClock, { path: directory.kubeconfig, userAgent: 'kruise-drain' });
  try {
    await drainNode(name, {
      client,
      clock: systemClock,
      timeoutMs: Number(parseDuration(timeout)) / 1e6,
      onEvicted: ({ metadata }) => console.log(`pod/${metadata.name} evicted`),
    });
    console.log(`node/${name} drained`);
    return 0;
  } finally {
    close();
  }
}
