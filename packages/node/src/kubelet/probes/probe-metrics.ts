/** Probe metrics of `/metrics/probes`: counts, results and durations. */
import type { Pod } from '@kruise/api/core/pod';
import { type Counter, createMetrics, type Histogram, type Metric, type MetricRegistry } from '@kruise/client/metrics';
import type { ProbeType } from './probe-state.ts';

/** Metrics of one probe of one container. */
export type ProbeSeries = {
  /** Records one probe with its duration; the outcome is undefined if the result is unknown. */
  observe(outcome: 'success' | 'failure' | undefined, durationSeconds: number): void;
  /** Deletes the series when the Pod is removed. */
  remove(): void;
};

/** Probe metrics of a kubelet. */
export type ProbeMetrics = {
  readonly registry: MetricRegistry;
  of(pod: Pod, container: string, type: ProbeType): ProbeSeries;
};

const resultNames = { success: 'successful', failure: 'failed', unknown: 'unknown' } as const;
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the probe metrics. */
export function createProbeMetrics(): ProbeMetrics {
  const registry = createMetrics();
  const counts = registry.counter(
    'prober_probe_total',
    'Number of liveness, readiness and startup probes of containers, by result.',
    ['container', 'namespace', 'pod', 'pod_uid', 'probe_type', 'result'],
  );
  const durations = registry.histogram(
    'prober_probe_duration_seconds',
    'Duration of successful probes in seconds.',
    ['container', 'namespace', 'pod', 'probe_type'],
    buckets,
  );
  const families = { counts, durations };
  return {
    registry,
    of({ metadata }, container, type) {
      const { name: pod = '', namespace = '', uid = '' } = metadata;
      return new CachedProbeSeries(families, { container, namespace, pod, uid, type });
    },
  };
}

type Families = { readonly counts: Metric<Counter>; readonly durations: Metric<Histogram> };
type ProbeLabels = {
  readonly container: string;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly type: ProbeType;
};
type CachedSeries<S> = { readonly labels: readonly string[]; readonly series: S };

/** A class rather than closures, because each container has several instances. */
class CachedProbeSeries implements ProbeSeries {
  readonly #families: Families;
  readonly #checked: ProbeLabels;
  readonly #counters: { -readonly [R in keyof typeof resultNames]?: CachedSeries<Counter> } = {};
  #duration: CachedSeries<Histogram> | undefined;

  constructor(families: Families, observe: ProbeLabels) {
    this.#families = families;
    this.#checked = observe;
  }

  observe(outcome: 'success' | 'failure' | undefined, durationSeconds: number): void {
    const { counts, durations } = this.#families;
    const { container, namespace, pod, uid, type } = this.#checked;
    const result = outcome ?? 'unknown';
    this.#counters[result] ??= cacheSeries(counts, [container, namespace, pod, uid, type, resultNames[result]]);
    this.#counters[result].series.increase();
    // The duration of a failed probe is usually its timeout, so only successful probes are observed.
    if (outcome !== 'success') return;
    this.#duration ??= cacheSeries(durations, [container, namespace, pod, type]);
    this.#duration.series.observe(durationSeconds);
  }

  remove(): void {
    const { counts, durations } = this.#families;
    for (const { labels } of Object.values(this.#counters)) counts.detach(labels);
    if (this.#duration) durations.detach(this.#duration.labels);
  }
}

function cacheSeries<S>(metric: Metric<S>, labels: readonly string[]): CachedSeries<S> {
  return { labels, series: metric.attach(labels) };
}
