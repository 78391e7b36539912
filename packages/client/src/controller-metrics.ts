/** The metrics of controllers and their queues, under the names that dashboards for Kubernetes know. */
import type { Clock } from '@kruise/values/clock';
import type { MetricRegistry } from './metrics.ts';
import type { StuckKey } from './stuck-keys.ts';
import type { QueueObserver } from './work-queue.ts';

/** How a pass ended. */
export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';

/** What controllers count; one for all controllers of a process. */
export type ControllerMetrics = {
  /** Counts what a queue does. */
  queueOf(name: string, clock: Clock): QueueObserver;
  reconciled(controller: string, result: ReconcileResult, tookMs: number): void;
  workersOf(controller: string, count: number): void;
  /** Notes that writes of a key did not come into sight in time. */
  overdue?(controller: string, key: string): void;
  /** Receives, at the start, the function that lists a controller's keys retried for more than ten minutes. */
  stuckKeysOf?(controller: string, list: () => readonly StuckKey[]): void;
  /** Notes whether this process leads by a Lease. */
  leading(lease: string, isLeading: boolean): void;
};

const queueBuckets = Array.from({ length: 12 }, (_, index) => Number(`1e${index - 8}`));
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Registers the metrics of controllers. */
export function createControllerMetrics(registry: MetricRegistry): ControllerMetrics {
  const byQueue = ['name', 'controller'];
  const depth = registry.gauge('workqueue_depth', 'Keys that wait for a worker.', byQueue);
  const adds = registry.counter('workqueue_adds_total', 'Keys that were added.', byQueue);
  const retries = registry.counter('workqueue_retries_total', 'Keys that were to be tried again.', byQueue);
  const waits = registry.histogram(
    'workqueue_queue_duration_seconds',
    'How long keys waited for a worker.',
    byQueue,
    queueBuckets,
  );
  const works = registry.histogram(
    'workqueue_work_duration_seconds',
    'How long keys were worked on.',
    byQueue,
    queueBuckets,
  );
  const unfinished = registry.gauge(
    'workqueue_unfinished_work_seconds',
    'How long the keys being worked on have been, taken together.',
    byQueue,
  );
  const longest = registry.gauge(
    'workqueue_longest_running_processor_seconds',
    'How long the key worked on longest has been.',
    byQueue,
  );
  const total = registry.counter('controller_runtime_reconcile_total', 'Passes, by how they ended.', [
    'controller',
    'result',
  ]);
  const errors = registry.counter('controller_runtime_reconcile_errors_total', 'Passes that failed.', ['controller']);
  const times = registry.histogram(
    'controller_runtime_reconcile_time_seconds',
    'How long passes took.',
    ['controller'],
    reconcileBuckets,
  );
  const workers = registry.gauge('controller_runtime_max_concurrent_reconciles', 'Keys worked on at most at a time.', [
    'controller',
  ]);
  const active = registry.gauge('controller_runtime_active_workers', 'Keys worked on now.', ['controller']);
  const stuck = registry.gauge(
    'controller_runtime_stuck_keys',
    'Keys that have been retried for more than ten minutes without success.',
    ['controller'],
  );
  const leads = registry.gauge('leader_election_master_status', 'Whether this process leads, by Lease.', ['name']);

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
          registry.onRead(() => {
            const ages = [...startTimes()].map((since) => (clock.elapsedMs() - since) / 1000);
            unfinished.of(name, name).set(ages.reduce((sum, age) => sum + age, 0));
            longest.of(name, name).set(Math.max(0, ...ages));
          });
        },
      };
    },
    reconciled(controller, result, tookMs) {
      total.of(controller, result).increase();
      if (result === 'error') errors.of(controller).increase();
      times.of(controller).observe(tookMs / 1000);
    },
    stuckKeysOf(controller, list) {
      registry.onRead(() => stuck.of(controller).set(list().length));
    },
    workersOf: (controller, count) => workers.of(controller).set(count),
    leading: (lease, isLeading) => leads.of(lease).set(isLeading ? 1 : 0),
  };
}
