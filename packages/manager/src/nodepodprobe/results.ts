import type { Pod, PodCondition } from '@kruise/api/core/pod';
import type { ContainerProbeState } from '@kruise/api/kruise/nodepodprobe';
import type { PodContainerProbe, PodProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { type Action, isBeingDeleted } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import type { Observed } from './decide.ts';

/** Labels or annotations to set or, with null, to remove. */
type Marks = Map<string, string | null>;

/** Writes probe results to a Pod: conditions, labels and annotations, where they differ. */
export function writeResults(
  pod: Pod,
  states: readonly ContainerProbeState[],
  findMarker: Observed['findMarker'],
): readonly Action[] {
  const { namespace = '', labels: present = {}, annotations: presentAnnotations = {} } = pod.metadata;
  const conditions = new Map<string, PodCondition>();
  const labels: Marks = new Map();
  const annotations: Marks = new Map();
  for (const result of states) {
    const [name = '', probeName = ''] = result.name.split('#');
    const probe = probeOf(findMarker({ namespace, name }), probeName);
    if (!result.state || !probe) continue;
    const { podConditionType: type, markerPolicy = [] } = probe;
    // Where several probes set the same condition, the first one counts.
    if (type && !conditions.has(type)) conditions.set(type, conditionOf(type, result));
    const opposite = markerPolicy.findLast(({ state }) => state !== result.state);
    const matched = markerPolicy.findLast(({ state }) => state === result.state);
    for (const key of Object.keys(opposite?.labels ?? {})) labels.set(key, null);
    for (const key of Object.keys(opposite?.annotations ?? {})) annotations.set(key, null);
    for (const [key, value] of Object.entries(matched?.labels ?? {})) labels.set(key, value);
    for (const [key, value] of Object.entries(matched?.annotations ?? {})) annotations.set(key, value);
  }
  const changes = {
    conditions: [...conditions.values()].filter((condition) => hasChanged(condition, pod)),
    labels: differing(labels, present),
    annotations: differing(annotations, presentAnnotations),
  };
  if (changes.conditions.length + changes.labels.length + changes.annotations.length === 0) return [];
  return [write(pod, changes)];
}

function probeOf(marker: PodProbeMarker | undefined, name: string): PodContainerProbe | undefined {
  if (!marker || isBeingDeleted(marker)) return undefined;
  return marker.spec.probes.find((each) => each.name === name);
}

function conditionOf(
  type: string,
  { state, message, lastProbeTime, lastTransitionTime }: ContainerProbeState,
): PodCondition {
  return {
    type,
    status: state === 'Succeeded' ? 'True' : 'False',
    ...(lastProbeTime ? { lastProbeTime } : {}),
    ...(lastTransitionTime ? { lastTransitionTime } : {}),
    ...(message ? { message } : {}),
  };
}

function hasChanged({ type, status, message = '' }: PodCondition, pod: Pod): boolean {
  const shown = findCondition(pod.status?.conditions, type);
  return shown?.status !== status || (shown.message ?? '') !== message;
}

type Entries = readonly (readonly [string, string | null])[];

function differing(marks: Marks, present: { readonly [key: string]: string }): Entries {
  return [...marks].filter(([key, value]) => (present[key] ?? null) !== value);
}

type Changes = {
  readonly conditions: readonly PodCondition[];
  readonly labels: Entries;
  readonly annotations: Entries;
};

/** Writes all changes in one patch of the status subresource, which also accepts labels and annotations. */
function write(pod: Pod, { conditions, labels, annotations }: Changes): Action {
  const metadata = {
    ...(labels.length > 0 ? { labels: Object.fromEntries(labels) } : {}),
    ...(annotations.length > 0 ? { annotations: Object.fromEntries(annotations) } : {}),
  };
  const status = conditions.length > 0 ? { status: { conditions } } : {};
  return { type: 'patch', object: pod, patch: { metadata, ...status }, patchType: 'strategic', subresource: 'status' };
}
