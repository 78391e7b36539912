/** Container launch priority controller: starts the containers of a Pod in the order of their priorities. */
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { type Pod, pod } from '@kruise/api/core/pod';
import { launchPriorityCompletedAnnotation } from '@kruise/api/kruise/well-known';
import { type Action, asOptional, create, isBeingDeleted, patch } from '@kruise/client/actions';
import { type Controller, type Decision, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { barrierKey, barrierName, launchPriorityOf } from './launch-priority.ts';

export type Observed = { readonly pod: Pod; readonly barrier: ConfigMap | undefined };

export const containerLaunchPriorityController: Controller = defineController({
  name: 'container-launch-priority-controller',
  component: 'container-launch-priority-controller',
  for: pod,
  predicate: ({ type, object }) => type !== 'deleted' && waitingPriorities(object).length > 0,
  watches: [watch(configMap, podOfBarrier)],
  workers: 4,
  observe: (caches, key) => observe(caches, key),
  decide,
});

function observe(caches: Caches, key: Key): Observed | undefined {
  const found = caches.of(pod).get(key);
  if (!found || waitingPriorities(found).length === 0) return undefined;
  const { namespace = '' } = found.metadata;
  return { pod: found, barrier: caches.of(configMap).get({ namespace, name: barrierName(found) }) };
}

export function decide({ pod, barrier }: Observed): Decision<Pod['status']> {
  const waiting = waitingPriorities(pod);
  const [highest, lowest] = [waiting.at(0), waiting.at(-1)];
  if (highest === undefined || lowest === undefined) return { actions: [] };
  const key = barrierKey(highest);
  // Containers with the same priority start together, and no container waits after the lowest priority.
  const isLast = highest === lowest || barrier?.data?.[barrierKey(lowest)] !== undefined;
  const completed = isLast ? [complete(pod)] : [];
  // The barrier may have been created since the last read.
  if (!barrier) return { actions: [asOptional(create(newBarrier(pod, key))), ...completed] };
  const isOpen = barrier.data?.[key] !== undefined;
  return { actions: [...(isOpen ? [] : [patch(barrier, { data: { [key]: 'true' } })]), ...completed] };
}

/**
 * Returns the priorities of containers that are not ready, from the highest; empty where the Pod has completed its
 * launch.
 */
function waitingPriorities(found: Pod): readonly number[] {
  const { metadata, spec, status } = found;
  if (isBeingDeleted(found) || metadata.annotations?.[launchPriorityCompletedAnnotation] === 'true') return [];
  if (isConditionTrue(status?.conditions, 'ContainersReady')) return [];
  const ready = new Set(status?.containerStatuses?.filter((each) => each.ready).map(({ name }) => name));
  const waiting = (spec?.containers ?? []).filter(({ name }) => !ready.has(name));
  const priorities = waiting.map(launchPriorityOf).filter((priority) => priority !== undefined);
  return priorities.sort((a, b) => b - a);
}

function newBarrier(pod: Pod, key: string): ConfigMap {
  const { name = '', namespace, uid = '' } = pod.metadata;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: barrierName(pod),
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
    },
    data: { [key]: 'true' },
  };
}

function complete(pod: Pod): Action {
  return patch(pod, { metadata: { annotations: { [launchPriorityCompletedAnnotation]: 'true' } } });
}

/** Returns the Pod of a barrier: the Pod owns the barrier, and the names match. */
function podOfBarrier({ object: { metadata } }: Change<ConfigMap>): readonly Key[] {
  const { namespace = '', ownerReferences = [] } = metadata;
  return ownerReferences
    .filter(
      ({ apiVersion, kind, name }) => apiVersion === 'v1' && kind === 'Pod' && metadata.name === `${name}-barrier`,
    )
    .map(({ name }) => `${namespace}/${name}`);
}
