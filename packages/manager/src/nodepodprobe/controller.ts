import { type Node, node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type NodePodProbe, nodePodProbe } from '@kruise/api/kruise/nodepodprobe';
import { podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { isPodActive } from '@kruise/machinery/pods';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { isVirtualNode, readyTimeOf } from '../workload/nodes.ts';
import { decide, type Observed } from './decide.ts';

export function nodePodProbeController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'nodepodprobe'),
    for: nodePodProbe,
    predicate: ({ object, previous }) => !isSame(previous?.status, object.status) || previous === undefined,
    watches: [watch(node, nodePodProbesOfNode), watch(pod, nodePodProbesOfFinishedPod)],
    uses: [podProbeMarker],
    observe,
    decide,
  });
}

function observe(caches: Caches, name: Key): Observed | undefined {
  const found = caches.of(node).get(name);
  const existing = caches.of(nodePodProbe).get(name);
  if (!existing && (!found || isVirtualNode(found))) return undefined;
  return {
    name,
    hasNode: found !== undefined && !isBeingDeleted(found),
    nodePodProbe: existing,
    findPod: (reference) => caches.of(pod).get(reference),
    findMarker: (reference) => caches.of(podProbeMarker).get(reference),
  };
}

function nodePodProbesOfNode({ type, object }: Change<Node>, caches: Caches): readonly Key[] {
  if (isVirtualNode(object)) return [];
  const { name = '' } = object.metadata;
  const isPresent = caches.of(nodePodProbe).get(name) !== undefined;
  const isGone = type === 'deleted' || isBeingDeleted(object);
  const isRelevant = isGone ? isPresent : !isPresent && readyTimeOf(object) !== undefined;
  return isRelevant ? [name] : [];
}

/** Returns the NodePodProbe of a probed Pod that is deleted or finished. */
function nodePodProbesOfFinishedPod({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  const { nodeName } = object.spec ?? {};
  const isOver = type === 'deleted' || (previous !== undefined && isPodActive(previous) && !isPodActive(object));
  if (!nodeName || !isOver) return [];
  const found = caches.of(nodePodProbe).get(nodeName);
  return found && mentions(found, object) ? [nodeName] : [];
}

function mentions({ spec }: NodePodProbe, { metadata }: Pod): boolean {
  return (spec.podProbes ?? []).some(
    ({ namespace, name }) => namespace === metadata.namespace && name === metadata.name,
  );
}
