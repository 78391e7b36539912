import type { MetricRegistry } from '@kruise/client/metrics';
import type { ProtectionEvent } from '../webhooks/context.ts';

/** Counts refused deletions by resource and user before they are passed on. */
export function countProtections(registry: MetricRegistry, report: (event: ProtectionEvent) => void) {
  const byOwner = ['kind_namespace_name', 'username'];
  const byName = ['name', 'username'];
  const pods = registry.counter(
    'pod_unavailable_budget',
    'Number of Pod disruptions refused by a PodUnavailableBudget.',
    byOwner,
  );
  const workloads = registry.counter('workload_deletion_protection', 'Number of workload deletions refused.', byOwner);
  const namespaces = registry.counter(
    'namespace_deletion_protection',
    'Number of namespace deletions refused.',
    byName,
  );
  const definitions = registry.counter('crd_deletion_protection', 'Number of CRD deletions refused.', byName);
  const counterFor = ({ event, kind, namespace, name, username }: ProtectionEvent) => {
    if (event === 'PodUnavailableBudget') return pods.of(`${kind}_${namespace}_${name}`, username);
    if (kind === 'Namespace') return namespaces.of(name, username);
    if (kind === 'CustomResourceDefinition') return definitions.of(name, username);
    return workloads.of(`${kind}_${namespace}_${name}`, username);
  };
  return (event: ProtectionEvent) => {
    counterFor(event).increase();
    report(event);
  };
}
