import type { Namespace } from '@kruise/api/core/namespace';
import { resourceDistribution } from '@kruise/api/kruise/resourcedistribution';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { isTargeted } from './targets.ts';

/** Returns the distributions that target a namespace, before or after the change. */
export function distributionsOfNamespace(
  { object, previous, cause, type }: Change<Namespace>,
  caches: Caches,
): readonly Key[] {
  // At startup every distribution is reconciled with all namespaces.
  if (cause === 'initial') return [];
  if (type === 'updated' && previous && isSame(relevant(previous), relevant(object))) return [];
  return caches
    .of(resourceDistribution)
    .list()
    .filter(({ spec }) => isTargeted(spec.targets, object) || (previous && isTargeted(spec.targets, previous)))
    .map(keyOf);
}

function relevant(namespace: Namespace) {
  return [namespace.metadata.labels, isBeingDeleted(namespace)];
}
