import { daemonConfigNamespace } from '@kruise/api/kruise/well-known';
import type { RateLimiter } from '@kruise/client/rate-limiter';
import type { Clock } from '@kruise/values/clock';
import { type FeatureGates, featureGates } from './feature-gates.ts';

/** Settings of the controllers and webhooks of kruise-manager. */
export type ManagerSettings = {
  readonly gates: FeatureGates;
  /** The namespace of kruise-manager, with its Service, its certificates and its configuration. */
  readonly namespace: string;
  /** Resizes Pods through `pods/resize`, as servers since 1.32 require, rather than by an ordinary update. */
  readonly resizesBySubresource: boolean;
  /** Pods in state PreparingDelete do not count as replicas of their CloneSet. */
  readonly cloneSetExcludesPreparingDelete: boolean;
  /** The scheduler places the Pods of DaemonSets. Otherwise the controller sets their node. */
  readonly daemonSetsUseScheduler: boolean;
  /** The scheduler places the Pods of BroadcastJobs. Otherwise the controller sets their node. */
  readonly broadcastJobsUseScheduler: boolean;
  /** The namespace whose Secrets the kruise-daemons may read. */
  readonly daemonConfigNamespace: string;
  /** Time for which a node must have been ready before it gets a NodeImage. */
  readonly nodeImageCreationDelayMs: number;
  /** Time for which a NodeImage keeps the images of a job after the job has ended. */
  readonly alwaysNodeImageTtlSeconds: number;
  /** Backoff of workload reconciles after failures. Defaults to that of Kubernetes. */
  readonly rateLimiter?: (clock: Clock) => RateLimiter;
  /** Workers by controller name, where they differ from the default of three. */
  readonly workers: { readonly [controller: string]: number };
};

/** Returns settings with defaults for all that is not given. */
export function managerSettings(settings: Partial<ManagerSettings> = {}): ManagerSettings {
  return {
    gates: featureGates(),
    namespace: 'kruise-system',
    resizesBySubresource: true,
    cloneSetExcludesPreparingDelete: false,
    daemonSetsUseScheduler: true,
    broadcastJobsUseScheduler: true,
    daemonConfigNamespace,
    nodeImageCreationDelayMs: 30_000,
    alwaysNodeImageTtlSeconds: 300,
    workers: {},
    ...settings,
  };
}

/** Returns the name, workers and rate limiter of a workload's controller. */
export function workSettings({ workers, rateLimiter }: ManagerSettings, workload: string) {
  const name = `${workload}-controller`;
  return {
    name,
    component: name,
    fieldManager: 'kruise-manager',
    workers: workers[workload] ?? 3,
    ...(rateLimiter ? { rateLimiter } : {}),
  };
}

/**
 * Reports whether a server of this version (`gitVersion`) resizes Pods through `pods/resize`. Providers append suffixes
 * to versions (`1.32+gke.1`), so only digits count. A version that cannot be parsed is taken for an old server.
 */
export function resizesBySubresource(gitVersion: string): boolean {
  const parts = gitVersion.replace(/^v/, '').split('.', 3);
  if (parts.length < 3) return false;
  const numbers = parts.map((part) => /^\d+/.exec(part)?.[0]);
  if (numbers.includes(undefined)) return false;
  const [major, minor] = numbers.map(Number);
  return major! > 1 || (major === 1 && minor! >= 32);
}
