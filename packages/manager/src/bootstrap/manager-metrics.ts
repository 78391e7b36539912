import { type ControllerMetrics, createControllerMetrics } from '@kruise/client/controller-metrics';
import type { MetricRegistry } from '@kruise/client/metrics';
import { referenceOf } from '@kruise/client/object-key';

/** Registers the metrics of kruise-manager's controllers: those that all controllers have, and its own. */
export function createManagerMetrics(registry: MetricRegistry): ControllerMetrics {
  const isLeader = registry.gauge('kruise_manager_is_leader', 'Whether this replica is the leader (1) or not (0).', []);
  isLeader.of().set(0);
  const leaks = registry.counter(
    'cloneset_scale_expectation_leakage',
    'Number of CloneSet scale expectations that timed out.',
    ['namespace', 'name'],
  );
  const metrics = createControllerMetrics(registry);
  return {
    ...metrics,
    overdue(controller, key) {
      const { namespace = '', name } = referenceOf(key);
      if (controller === 'cloneset-controller') leaks.of(namespace, name).increase();
    },
    leading(lease, isLeading) {
      metrics.leading(lease, isLeading);
      isLeader.of().set(isLeading ? 1 : 0);
    },
  };
}
