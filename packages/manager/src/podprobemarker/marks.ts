/** Marks Pods on virtual nodes, which have no daemon, by the conditions that their provider sets. */
import type { Pod } from '@kruise/api/core/pod';
import type { PodProbeMarker, ProbeState } from '@kruise/api/kruise/podprobemarker';
import { type Action, patch } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';

type Strings = { readonly [key: string]: string };

/** Sets the labels and annotations that match the conditions of a Pod; earlier marks stay. */
export function mark({ spec: { probes } }: PodProbeMarker, pod: Pod): readonly Action[] {
  const matched = probes.flatMap(({ podConditionType, markerPolicy = [] }) => {
    const condition = podConditionType && findCondition(pod.status?.conditions, podConditionType);
    if (!condition) return [];
    return markerPolicy.filter(({ state }) => state === stateOf(condition.status));
  });
  const { labels: present, annotations: presentAnnotations } = pod.metadata;
  const labels = missing(present, ...matched.map((policy) => policy.labels ?? {}));
  const annotations = missing(presentAnnotations, ...matched.map((policy) => policy.annotations ?? {}));
  if (!labels && !annotations) return [];
  return [patch(pod, { metadata: { ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) } })];
}

function stateOf(status: string): ProbeState {
  if (status === 'True') return 'Succeeded';
  return status === 'False' ? 'Failed' : 'Unknown';
}

function missing(present: Strings = {}, ...wanted: readonly Strings[]): Strings | undefined {
  const entries = Object.entries(Object.assign({}, ...wanted) as Strings).filter(
    ([key, value]) => present[key] !== value,
  );
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
