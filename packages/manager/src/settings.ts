import { daemonConfigNamespace } from '@kruise/api/kruise/well-known';
import type { RateLimiter } from '@kruise/client/rate-limiter';
import type { Clock } from '@kruise/values/clock';
import { type FeatureGates, featureGates } from './feature-gates.ts';

/** What the controllers and webhooks of kruise-manager are told. */
export type ManagerSettings = {
  readonly gates: FeatureGates;
  /** The namespace kruise-manager lives in, with its Service, its certificates and its configuration. */
  readonly namespace: string;
  /** Whether Pods are resized through `pods/resize`, as servers since 1.32 want it, or as any other change. */
  readonly resizesBySubresource: boolean;
  /** Pods in state PreparingDelete are no replicas of any CloneSet. */
  readonly cloneSetExcludesPreparingDelete: boolean;
  /** The Pods of DaemonSets are placed by the scheduler, not put on their nodes. */
  readonly daemonSetsUseScheduler: boolean;
  /** So are those of BroadcastJobs. */
  readonly broadcastJobsUseScheduler: boolean;
  /** The namespace whose Secrets the daemons of nodes may read. */
  readonly daemonConfigNamespace: string;
  /** A node has been ready for so long before it is given a NodeImage. */
  readonly nodeImageCreationDelayMs: number;
  /** Nodes remember images of jobs that end so much longer than the job lasts. */
  readonly alwaysNodeImageTtlSeconds: number;
  /** How long objects of workloads wait after a failure; by default as in Kubernetes. */
  readonly rateLimiter?: (clock: Clock) => RateLimiter;
  /** Workers by the name of their controller, where they differ from the usual three. */
  readonly workers: { readonly [controller: string]: number };
};

/** The settings of a manager of which nothing else is said. */
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

/** What the controller of a workload is called by, and how it works through its objects. */
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
 * Whether a server of this version (`gitVersion`) resizes Pods through `pods/resize`. Providers add to versions what
 * they like (`1.32+gke.1`), so only digits count; what cannot be read is taken for an old server.
 */
export function resizesBySubresource(gitVersion: string): boolean {
  const parts = gitVersion.replace(/^v/, '').split('.', 3);
  if (parts.length < 3) return false;
  const numbers = parts.map((part) => /^\d+/.exec(part)?.[0]);
  if (numbers.includes(undefined)) return false;
  const [major, minor] = numbers.map(Number);
  return major! > 1 || (major === 1 && minor! >= 32);
}
