import { type ClusterOptions, runCluster } from '../cluster-command.ts';
import type { Prepared } from '../prepare.ts';

/** Runs only an API server. */
export function apiserver(options: ClusterOptions, prepared: Prepared): Promise<number> {
  return runCluster({ name: 'apiserver' }, options, prepared);
}
