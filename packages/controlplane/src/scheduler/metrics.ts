/** Scheduler metrics, with the names that Kubernetes dashboards expect. */
import { exponentialBounds, type MetricRegistry } from '@kruise/client/metrics';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

export type SchedulerMetrics = {
  /** Observes the duration of a scheduling decision. */
  observeDecision(tookMs: number): void;
  /** Observes the result and duration of an attempt. */
  observeAttempt(profile: string, result: AttemptResult, tookMs: number): void;
  /** Observes a scheduled Pod: the number of attempts, and the time since it was first schedulable. */
  observeScheduled(attempts: number, waitedMs: number): void;
  /** Observes a preemption attempt, and the number of victims if a node was found. */
  observePreemption(victims: number | undefined): void;
  /** Registers the pending Pods gauge, which is computed on each scrape. */
  watchQueue(queue: SchedulingQueue): void;
};

export function createSchedulerMetrics(registry: MetricRegistry): SchedulerMetrics {
  const attempts = registry.counter(
    'scheduler_schedule_attempts_total',
    'Number of attempts to schedule Pods, by result and profile.',
    ['result', 'profile'],
  );
  const durations = registry.histogram(
    'scheduler_scheduling_attempt_duration_seconds',
    'Latency of scheduling attempts in seconds (scheduling algorithm and binding).',
    ['result', 'profile'],
    exponentialBounds(0.001, 2, 15),
  );
  const algorithm = registry.histogram(
    'scheduler_scheduling_algorithm_duration_seconds',
    'Latency of the scheduling algorithm in seconds.',
    [],
    exponentialBounds(0.001, 2, 15),
  );
  const attemptsNeeded = registry.histogram(
    'scheduler_pod_scheduling_attempts',
    'Number of attempts until a Pod was scheduled.',
    [],
    exponentialBounds(1, 2, 5),
  );
  const waits = registry.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'Time in seconds from when a Pod was first schedulable until it was scheduled.',
    ['attempts'],
    exponentialBounds(0.01, 2, 20),
  );
  const rejections = registry.gauge(
    'scheduler_unschedulable_pods',
    'Number of unschedulable Pods, by the plugin that rejected them.',
    ['plugin', 'profile'],
  );
  const preemptions = registry.counter('scheduler_preemption_attempts_total', 'Total number of preemption attempts.');
  const victims = registry.histogram(
    'scheduler_preemption_victims',
    'Number of selected preemption victims per attempt.',
    [],
    exponentialBounds(1, 2, 7),
  );
  const pending = registry.gauge('scheduler_pending_pods', 'Number of pending Pods, by queue.', ['queue']);

  return {
    observeDecision: (tookMs) => algorithm.of().observe(tookMs / 1000),
    observeAttempt(profile, result, tookMs) {
      attempts.of(result, profile).increase();
      durations.of(result, profile).observe(tookMs / 1000);
    },
    observeScheduled(count, waitedMs) {
      attemptsNeeded.of().observe(count);
      waits.of(count >= 15 ? '15+' : String(count)).observe(waitedMs / 1000);
    },
    observePreemption(count) {
      preemptions.of().increase();
      if (count !== undefined) victims.of().observe(count);
    },
    watchQueue(queue) {
      registry.onCollect(() => {
        for (const [name, count] of Object.entries(queue.counts())) pending.of(name).set(count);
        rejections.clear();
        for (const { pod, rejectedBy } of queue.pooled()) {
          for (const plugin of rejectedBy) rejections.of(plugin, pod.spec.schedulerName ?? '').increase();
        }
      });
    },
  };
}
