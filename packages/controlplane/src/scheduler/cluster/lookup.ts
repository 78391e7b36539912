/** Lookups of plugins in informer caches, besides nodes and their Pods. */

import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import type { Namespace } from '@kruise/api/core/namespace';
import { namespace } from '@kruise/api/core/namespace';
import { replicationController } from '@kruise/api/core/replicationcontroller';
import type { Service } from '@kruise/api/core/service';
import { service } from '@kruise/api/core/service';
import { type PodDisruptionBudget, podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import type { Caches } from '@kruise/client/informer';
import type { LabelSelector, Labels } from '@kruise/machinery/label-selector';

export type Lookup = {
  namespaces(): readonly Namespace[];
  namespaceLabels(name: string): Labels;
  services(namespace: string): readonly Service[];
  budgets(): readonly PodDisruptionBudget[];
  /** Returns the selector of a controller whose Pods are spread by default constraints. */
  workloadSelector(kind: WorkloadKind, key: string): LabelSelector | undefined;
};
export type WorkloadKind = 'ReplicationController' | 'ReplicaSet' | 'StatefulSet';

/** Kinds that plugins look up. */
export const lookedUpKinds = [
  namespace,
  service,
  replicationController,
  replicaSet,
  statefulSet,
  podDisruptionBudget,
] as const;

export function lookupIn(caches: Caches): Lookup {
  return {
    namespaces: () => caches.of(namespace).list(),
    namespaceLabels: (name) => caches.of(namespace).get(name)?.metadata.labels,
    services: (inNamespace) => caches.of(service).list({ namespace: inNamespace }),
    budgets: () => caches.of(podDisruptionBudget).list(),
    workloadSelector(kind, key) {
      switch (kind) {
        case 'ReplicationController': {
          const matchLabels = caches.of(replicationController).get(key)?.spec?.selector;
          return matchLabels ? { matchLabels } : undefined;
        }
        case 'ReplicaSet':
          return caches.of(replicaSet).get(key)?.spec?.selector;
        case 'StatefulSet':
          return caches.of(statefulSet).get(key)?.spec?.selector;
      }
    },
  };
}
