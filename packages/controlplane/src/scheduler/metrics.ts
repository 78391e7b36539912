/** What a scheduler counts, under the names that dashboards for Kubernetes know. */
import type { MetricRegistry } from '@kruise/client/metrics';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

export type SchedulerMetrics = {
  /** A decision was made, in so long. */
  decided(tookMs: number): void;
  /** An attempt has come to its end. */
  attempted(profile: string, result: AttemptResult, tookMs: number): void;
  /** A Pod was placed, after so many attempts and so long after it could first be tried. */
  placed(attempts: number, waitedMs: number): void;
  /** Others were to leave for a Pod: so many, if a node was found. */
  preempted(victims: number | undefined): void;
  /** Counts the Pods that wait whenever it is asked. */
  watch(queue: SchedulingQueue): void;
};

/** As many bounds, each so many times the one before. */
function bounds(first: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first * factor ** index);
}

export function createSchedulerMetrics(registry: MetricRegistry): SchedulerMetrics {
  const attempts = registry.counter('scheduler_schedule_attempts_total', 'Attempts to place Pods, by their result.', [
    'result',
    'profile',
  ]);
  const durations = registry.histogram(
    'scheduler_scheduling_attempt_duration_seconds',
    'How long attempts took, binding included.',
    ['result', 'profile'],
    bounds(0.001, 2, 15),
  );
  const algorithm = registry.histogram(
    'scheduler_scheduling_algorithm_duration_seconds',
    'How long decisions took.',
    [],
    bounds(0.001, 2, 15),
  );
  const attemptsNeeded = registry.histogram(
    'scheduler_pod_scheduling_attempts',
    'Attempts until a Pod was placed.',
    [],
    bounds(1, 2, 5),
  );
  const waits = registry.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'How long after they could first be tried Pods were placed.',
    ['attempts'],
    bounds(0.01, 2, 20),
  );
  const rejections = registry.gauge('scheduler_unschedulable_pods', 'Pods that wait for what a plugin rejected.', [
    'plugin',
    'profile',
  ]);
  const preemptions = registry.counter(
    'scheduler_preemption_attempts_total',
    'Times that others were to leave for a Pod.',
  );
  const victims = registry.histogram(
    'scheduler_preemption_victims',
    'How many were made to leave at a time.',
    [],
    bounds(1, 2, 7),
  );
  const pending = registry.gauge('scheduler_pending_pods', 'Pods that wait, by queue.', ['queue']);

  return {
    decided: (tookMs) => algorithm.of().observe(tookMs / 1000),
    attempted(profile, result, tookMs) {
      attempts.of(result, profile).increase();
      durations.of(result, profile).observe(tookMs / 1000);
    },
    placed(count, waitedMs) {
      attemptsNeeded.of().observe(count);
      waits.of(count >= 15 ? '15+' : String(count)).observe(waitedMs / 1000);
    },
    preempted(count) {
      preemptions.of().increase();
      if (count !== undefined) victims.of().observe(count);
    },
    watch(queue) {
      registry.onRead(() => {
        for (const [name, count] of Object.entries(queue.counts())) pending.of(name).set(count);
        rejections.clear();
        for (const { pod, rejectedBy } of queue.pooled()) {
          for (const plugin of rejectedBy) rejections.of(plugin, pod.spec.schedulerName ?? '').increase();
        }
      });
    },
  };
}
