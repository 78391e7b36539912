/** Metrics of kube-proxy, with the names that Kubernetes dashboards expect. */
import { exponentialBounds, type MetricRegistry } from '@kruise/client/metrics';
import type { IPFamily } from '../service/service-port.ts';
import type { ProxyMode } from './proxier.ts';

export type ProxyMetrics = {
  observeSync(family: IPFamily, isFull: boolean, tookMs: number, nowMs: number): void;
  observeQueued(nowMs: number): void;
  /** Observes the time from the change of a Pod or Service until the rules are in place. */
  observeProgramming(family: IPFamily, tookMs: number): void;
  observeFailure(mode: ProxyMode, family: IPFamily, isFull: boolean): void;
  observeRules(mode: ProxyMode, family: IPFamily, count: number): void;
  observeChanges(kind: 'endpoint' | 'service'): void;
  setPending(count: number): void;
  setNoLocalEndpoints(family: IPFamily, policy: 'internal' | 'external', count: number): void;
  observeHealthz(code: number): void;
  observeLivez(code: number): void;
  observeConntrack(family: IPFamily, deleted: number, tookMs: number): void;
};

/** Bounds of the latency of programming: a quarter of a second to some minutes. */
const programmingBounds = [
  0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 105, 150, 195, 240, 285, 300,
];

export function createProxyMetrics(registry: MetricRegistry, mode: ProxyMode): ProxyMetrics {
  const family = ['ip_family'];
  const seconds = exponentialBounds(0.001, 2, 15);
  const durations = registry.histogram(
    'kubeproxy_sync_proxy_rules_duration_seconds',
    'SyncProxyRules latency in seconds',
    family,
    seconds,
  );
  const full = registry.histogram(
    'kubeproxy_sync_full_proxy_rules_duration_seconds',
    'SyncProxyRules latency in seconds for full resyncs',
    family,
    seconds,
  );
  const partial = registry.histogram(
    'kubeproxy_sync_partial_proxy_rules_duration_seconds',
    'SyncProxyRules latency in seconds for partial resyncs',
    family,
    seconds,
  );
  const programming = registry.histogram(
    'kubeproxy_network_programming_duration_seconds',
    'In Cluster Network Programming Latency in seconds',
    family,
    programmingBounds,
  );
  const last = registry.gauge(
    'kubeproxy_sync_proxy_rules_last_timestamp_seconds',
    'The last time proxy rules were successfully synced',
    family,
  );
  const queued = registry.gauge(
    'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds',
    'The last time a sync of proxy rules was queued',
  );
  const changeCounters = {
    endpoint: registry.counter(
      'kubeproxy_sync_proxy_rules_endpoint_changes_total',
      'Cumulative proxy rules Endpoint changes',
    ),
    service: registry.counter(
      'kubeproxy_sync_proxy_rules_service_changes_total',
      'Cumulative proxy rules Service changes',
    ),
  };
  const pending = registry.gauge(
    'kubeproxy_sync_proxy_rules_service_changes_pending',
    'Pending proxy rules Service changes',
  );
  const pendingEndpoints = registry.gauge(
    'kubeproxy_sync_proxy_rules_endpoint_changes_pending',
    'Pending proxy rules Endpoint changes',
  );
  const noLocal = registry.gauge(
    'kubeproxy_sync_proxy_rules_no_local_endpoints_total',
    'Number of services with a Local traffic policy and no endpoints',
    ['traffic_policy', 'ip_family'],
  );
  const healthz = registry.counter('kubeproxy_proxy_healthz_total', 'Cumulative proxy healthz HTTP status', ['code']);
  const livez = registry.counter('kubeproxy_proxy_livez_total', 'Cumulative proxy livez HTTP status', ['code']);
  const deleted = registry.counter(
    'kubeproxy_conntrack_reconciler_deleted_entries_total',
    'Cumulative conntrack flows deleted by conntrack reconciler',
    family,
  );
  const reconciled = registry.histogram(
    'kubeproxy_conntrack_reconciler_sync_duration_seconds',
    'ReconcileConntrackFlowsLatency latency in seconds',
    family,
    seconds,
  );
  const nftFailures =
    mode === 'nftables'
      ? registry.counter(
          'kubeproxy_sync_proxy_rules_nftables_sync_failures_total',
          'Cumulative proxy nftables sync failures',
          family,
        )
      : undefined;
  const iptables =
    mode === 'iptables'
      ? {
          failures: registry.counter(
            'kubeproxy_sync_proxy_rules_iptables_restore_failures_total',
            'Cumulative proxy iptables restore failures',
            family,
          ),
          partialFailures: registry.counter(
            'kubeproxy_sync_proxy_rules_iptables_partial_restore_failures_total',
            'Cumulative proxy iptables partial restore failures',
            family,
          ),
          rules: registry.gauge(
            'kubeproxy_sync_proxy_rules_iptables_total',
            'Total number of iptables rules owned by kube-proxy',
            family,
          ),
        }
      : undefined;

  return {
    observeSync(ipFamily, isFull, tookMs, nowMs) {
      durations.of(ipFamily).observe(tookMs / 1000);
      (isFull ? full : partial).of(ipFamily).observe(tookMs / 1000);
      last.of(ipFamily).set(nowMs / 1000);
    },
    observeQueued: (nowMs) => queued.of().set(nowMs / 1000),
    observeProgramming: (ipFamily, tookMs) => programming.of(ipFamily).observe(tookMs / 1000),
    observeFailure(_mode, ipFamily, isFull) {
      nftFailures?.of(ipFamily).increase();
      (isFull ? iptables?.failures : iptables?.partialFailures)?.of(ipFamily).increase();
    },
    observeRules: (_mode, ipFamily, count) => iptables?.rules.of(ipFamily).set(count),
    observeChanges: (kind) => changeCounters[kind].of().increase(),
    setPending(count) {
      pending.of().set(count);
      pendingEndpoints.of().set(count);
    },
    setNoLocalEndpoints: (ipFamily, policy, count) => noLocal.of(policy, ipFamily).set(count),
    observeHealthz: (code) => healthz.of(String(code)).increase(),
    observeLivez: (code) => livez.of(String(code)).increase(),
    observeConntrack(ipFamily, count, tookMs) {
      deleted.of(ipFamily).increase(count);
      reconciled.of(ipFamily).observe(tookMs / 1000);
    },
  };
}
