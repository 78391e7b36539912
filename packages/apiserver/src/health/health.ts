/** Health checks of the server. The names are those of Kubernetes; each check documents what it means here. */

/** Health check: returns if healthy, throws otherwise. */
export type HealthCheck = { readonly name: string; readonly check: () => void | Promise<void> };

/** State that the health checks read. */
export type HealthState = {
  /** Throws, or times out, if the store is not reachable. */
  readonly storeAnswers: () => Promise<void>;
  /** Throws if the caches do not follow the store. */
  readonly cachesFollow: () => void;
  readonly isStarted: () => boolean;
  readonly isStopping: () => boolean;
};

/** Post-start hooks, in order. All are done before the server listens. */
const startHooks = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/aggregator-reload-proxy-client-cert',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

const pass = (): void => {};

function failIf(condition: boolean, why: string): void {
  if (condition) throw new Error(why);
}

/** Returns the checks of each health endpoint, in output order. */
export function healthChecks(state: HealthState): { readonly [endpoint: string]: readonly HealthCheck[] } {
  const store = { name: 'etcd', check: state.storeAnswers };
  const hooks = startHooks.map((name) => ({ name, check: () => failIf(!state.isStarted(), 'not finished') }));
  const live = [{ name: 'ping', check: pass }, { name: 'log', check: pass }, store];
  const ready = [
    ...live,
    { name: 'etcd-readiness', check: state.storeAnswers },
    { name: 'informer-sync', check: state.cachesFollow },
    ...hooks,
    { name: 'shutdown', check: () => failIf(state.isStopping(), 'process is shutting down') },
  ];
  return { healthz: [...live, ...hooks], livez: [...live, ...hooks], readyz: ready };
}

/** Response of a health endpoint. */
export type HealthReport = {
  readonly code: 200 | 500;
  readonly body: string;
  /** Failed checks and their reasons, for the log only. */
  readonly failed: readonly { readonly name: string; readonly why: unknown }[];
};

export type HealthOptions = { readonly verbose: boolean; readonly exclude: readonly string[] };

/** Runs all checks of an endpoint. The response omits the reasons of failures, because it is public. */
export async function reportHealth(
  endpoint: string,
  checks: readonly HealthCheck[],
  { verbose, exclude }: HealthOptions,
): Promise<HealthReport> {
  const unknown = new Set(exclude);
  const failed: { name: string; why: unknown }[] = [];
  const lines: string[] = [];
  for (const { name, check } of checks) {
    if (unknown.delete(name)) {
      lines.push(`[+]${name} excluded: ok\n`);
      continue;
    }
    try {
      await check();
      lines.push(`[+]${name} ok\n`);
    } catch (why) {
      failed.push({ name, why });
      lines.push(`[-]${name} failed: reason withheld\n`);
    }
  }
  if (unknown.size > 0) {
    const names = [...unknown].sort().map((name) => JSON.stringify(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`);
  }
  if (failed.length > 0) return { code: 500, body: `${lines.join('')}${endpoint} check failed\n`, failed };
  return { code: 200, body: verbose ? `${lines.join('')}${endpoint} check passed\n` : 'ok', failed };
}
