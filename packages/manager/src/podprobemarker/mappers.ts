import { node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodActive } from '@kruise/machinery/pods';
import { isVirtualNode } from '../workload/nodes.ts';
import type { Observed } from './decide.ts';

/** Reports whether a Pod can be probed: it is active, and its containers may have started. */
export function isProbed(pod: Pod): boolean {
  return isPodActive(pod) && Boolean(pod.spec?.nodeName) && isConditionTrue(pod.status?.conditions, 'Initialized');
}

/**
 * Returns the markers to enqueue for a Pod whose labels, probe eligibility, IP or (on virtual nodes) conditions change.
 */
export function markersOfPod({ marksVirtualPods }: Pick<Observed, 'marksVirtualPods'>) {
  return ({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] => {
    const podNode = marksVirtualPods ? caches.of(node).get(object.spec?.nodeName ?? '') : undefined;
    const relevant = podNode && isVirtualNode(podNode) ? withConditions : relevantFields;
    if (type === 'updated' && previous && isSame(relevant(previous), relevant(object))) return [];
    const { namespace = '' } = object.metadata;
    return caches
      .of(podProbeMarker)
      .list({ namespace })
      .filter(({ spec }) => {
        const selector = selectorOf(spec.selector);
        return selector.matches(object.metadata.labels) || (previous && selector.matches(previous.metadata.labels));
      })
      .map(keyOf);
  };
}

function relevantFields(pod: Pod): readonly unknown[] {
  return [pod.metadata.labels, isProbed(pod), pod.status?.podIP];
}

function withConditions(pod: Pod): readonly unknown[] {
  return [...relevantFields(pod), ...(pod.status?.conditions ?? []).map(({ type, status }) => [type, status])];
}
