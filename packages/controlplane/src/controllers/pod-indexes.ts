/** The ways Pods are looked up. An index is known by its function, so that controllers that share one share its cost. */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Caches } from '@kruise/client/informer';
import { requiredLabel, type Selector } from '@kruise/machinery/label-selector';
import { claimNames } from '@kruise/machinery/pod-claims';

/** By the name of the node a Pod is on. */
export function byNode({ spec }: Pod): readonly string[] {
  return spec?.nodeName ? [spec.nodeName] : [];
}

/** By each label it has. */
export function byLabel({ metadata: { namespace = '', labels } }: Pod): readonly string[] {
  return labels ? Object.keys(labels).map((key) => labelId(namespace, key, labels[key] ?? '')) : [];
}

/** What a label of a namespace is found by. */
export function labelId(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`;
}

/** The Pods of a namespace that a selector matches: found by a label it insists on, rather than by looking at all. */
export function podsMatching(caches: Caches, namespace: string, selector: Selector): readonly Pod[] {
  const pods = caches.of(pod);
  const label = requiredLabel(selector);
  const candidates = label
    ? pods.byIndex(byLabel, labelId(namespace, label.key, label.value))
    : pods.list({ namespace });
  return candidates.filter(({ metadata }) => selector.matches(metadata.labels));
}

/** By each claim it has, as `namespace/name`. */
export function byClaim(pod: Pod): readonly string[] {
  return claimNames(pod).map(({ name }) => `${pod.metadata.namespace}/${name}`);
}
