import { type ClusterOptions, runCluster } from '../cluster-command.ts';

/** An API server and nothing else. */
export function apiserver(options: ClusterOptions): Promise<number> {
  return runCluster({ name: 'apiserver' }, options);
}
