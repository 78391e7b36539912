/** Pod indexes. An index is identified by its function, so that controllers share indexes and their cost. */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Caches } from '@kruise/client/informer';
import { requiredLabel, type Selector } from '@kruise/machinery/label-selector';
import { podVolumeClaims } from '@kruise/machinery/pod-volume-claims';

/** Indexes Pods by node name. */
export function byNode({ spec }: Pod): readonly string[] {
  return spec?.nodeName ? [spec.nodeName] : [];
}

/** Indexes Pods by each of their labels. */
export function byLabel({ metadata: { namespace = '', labels } }: Pod): readonly string[] {
  return labels ? Object.keys(labels).map((key) => labelId(namespace, key, labels[key] ?? '')) : [];
}

/** Returns the index key of a label in a namespace. */
export function labelId(namespace: string, key: string, value: string): string {
  return `${namespace}/${key}=${value}`;
}

/**
 * Returns the Pods of a namespace that match a selector. The lookup uses one required label, so that it need not scan
 * all Pods.
 */
export function podsMatching(caches: Caches, namespace: string, selector: Selector): readonly Pod[] {
  const pods = caches.of(pod);
  const label = requiredLabel(selector);
  const candidates = label
    ? pods.byIndex(byLabel, labelId(namespace, label.key, label.value))
    : pods.list({ namespace });
  return candidates.filter(({ metadata }) => selector.matches(metadata.labels));
}

/** Indexes Pods by each of their PVCs, as `namespace/name`. */
export function byClaim(pod: Pod): readonly string[] {
  return podVolumeClaims(pod).map(({ name }) => `${pod.metadata.namespace}/${name}`);
}
