/** Metrics of controllers and work queues, with the names that client-go and controller-runtime use. */
import type { Clock } from '@kruise/values/clock';
import type { MetricRegistry } from '../server/metrics.ts';
import type { StuckKey } from './stuck-keys.ts';
import type { QueueObserver } from './work-queue.ts';

/** Result of a reconcile. */
export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';

/** Metrics recorder shared by all controllers of a process. */
export type ControllerMetrics = {
  /** Returns the observer that records the metrics of a work queue. */
  queueOf(name: string, clock: Clock): QueueObserver;
  reconciled(controller: string, result: ReconcileResult, durationMs: number): void;
  workersOf(controller: string, count: number): void;
  /** Records that the expectations of a key timed out. */
  overdue?(controller: string, key: string): void;
  /** Registers the function that lists the keys of a controller that have been retried for more than ten minutes. */
  stuckKeysOf?(controller: string, list: () => readonly StuckKey[]): void;
  /** Records whether this process holds a leader election Lease. */
  leading(lease: string, isLeading: boolean): void;
};

const queueBuckets = Array.from({ length: 12 }, (_, index) => Number(`1e${index - 8}`));
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/**
 * Registers the metrics of controllers.
 *
 * ```ts
 * const registry = createMetrics();
 * const metrics = createControllerMetrics(registry);
 * ```
 */
export function createControllerMetrics(registry: MetricRegistry): ControllerMetrics {
  const byQueue = ['name', 'controller'];
  const depth = registry.gauge('workqueue_depth', 'Current number of keys in the work queue.', byQueue);
  const adds = registry.counter('workqueue_adds_total', 'Total number of keys added to the work queue.', byQueue);
  const retries = registry.counter('workqueue_retries_total', 'Total number of retries in the work queue.', byQueue);
  const waits = registry.histogram(
    'workqueue_queue_duration_seconds',
    'Time in seconds that a key waits in the work queue before a worker takes it.',
    byQueue,
    queueBuckets,
  );
  const works = registry.histogram(
    'workqueue_work_duration_seconds',
    'Time in seconds that a worker takes to process a key.',
    byQueue,
    queueBuckets,
  );
  const unfinished = registry.gauge(
    'workqueue_unfinished_work_seconds',
    'Sum of the seconds that the keys in progress have been processed so far.',
    byQueue,
  );
  const longest = registry.gauge(
    'workqueue_longest_running_processor_seconds',
    'Seconds that the longest running worker has been processing its key.',
    byQueue,
  );
  const total = registry.counter(
    'controller_runtime_reconcile_total',
    'Total number of reconciles per controller, by result.',
    ['controller', 'result'],
  );
  const errors = registry.counter(
    'controller_runtime_reconcile_errors_total',
    'Total number of failed reconciles per controller.',
    ['controller'],
  );
  const times = registry.histogram(
    'controller_runtime_reconcile_time_seconds',
    'Duration of reconciles in seconds, per controller.',
    ['controller'],
    reconcileBuckets,
  );
  const workers = registry.gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Maximum number of concurrent reconciles per controller.',
    ['controller'],
  );
  const active = registry.gauge(
    'controller_runtime_active_workers',
    'Number of workers that are reconciling, per controller.',
    ['controller'],
  );
  const stuck = registry.gauge(
    'controller_runtime_stuck_keys',
    'Number of keys that have been retried for more than ten minutes without success.',
    ['controller'],
  );
  const leads = registry.gauge(
    'leader_election_master_status',
    '1 if this process holds the leader election Lease, otherwise 0.',
    ['name'],
  );

  return {
    queueOf(name, clock) {
      const series = {
        depth: depth.of(name, name),
        adds: adds.of(name, name),
        retries: retries.of(name, name),
        waits: waits.of(name, name),
        works: works.of(name, name),
        active: active.of(name),
      };
      return {
        added(size) {
          series.adds.increase();
          series.depth.set(size);
        },
        taken(size, waitedMs) {
          series.depth.set(size);
          series.active.increase();
          series.waits.observe(waitedMs / 1000);
        },
        done(workedMs) {
          series.active.decrease();
          series.works.observe(workedMs / 1000);
        },
        retried: () => series.retries.increase(),
        attach(startTimes) {
          registry.onCollect(() => {
            const ages = [...startTimes()].map((since) => (clock.elapsedMs() - since) / 1000);
            unfinished.of(name, name).set(ages.reduce((sum, age) => sum + age, 0));
            longest.of(name, name).set(Math.max(0, ...ages));
          });
        },
      };
    },
    reconciled(controller, result, durationMs) {
      total.of(controller, result).increase();
      if (result === 'error') errors.of(controller).increase();
      times.of(controller).observe(durationMs / 1000);
    },
    stuckKeysOf(controller, list) {
      registry.onCollect(() => stuck.of(controller).set(list().length));
    },
    workersOf: (controller, count) => workers.of(controller).set(count),
    leading: (lease, isLeading) => leads.of(lease).set(isLeading ? 1 : 0),
  };
}
