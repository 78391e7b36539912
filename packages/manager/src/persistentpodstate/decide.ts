/** PersistentPodState reconciler: records the nodes of a workload's Pods. */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type {
  PersistentPodState,
  PersistentPodStateSpec,
  PersistentPodStateStatus,
  PodState,
} from '@kruise/api/kruise/persistentpodstate';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { tryParseInteger } from '@kruise/values/go-integer';
import { type ReconcileInterval, reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import type { Workload } from './workloads.ts';

export type Observed = {
  readonly state: PersistentPodState;
  readonly workload: Workload | undefined;
  /** Pods that the workload controls. */
  readonly pods: readonly Pod[];
  readonly findNode: (name: string) => Node | undefined;
};

type Records = { readonly [podName: string]: PodState };

/** The status holds every Pod, so one write for a large workload should cover many changes. */
const interval: ReconcileInterval = { from: 0, objectsPerMs: 1, maxMs: 1000 };

export function decide(observed: Observed): Decision<PersistentPodStateStatus> {
  const { state, workload } = observed;
  const observedGeneration = state.metadata.generation ?? 0;
  if (!workload || isBeingDeleted(workload.object)) return { actions: [], status: { observedGeneration } };
  const pods = workload.replicas === 0 ? [] : observed.pods.filter(isPodActive);
  const known = { ...state.status?.podStates, ...recordsOf(pods, observed) };
  const records =
    state.spec.persistentPodStateRetentionPolicy === 'WhenDeleted' ? known : withoutScaledIn(known, workload, pods);
  const count = Object.keys(records).length;
  return {
    actions: [],
    status: { observedGeneration, ...(count > 0 ? { podStates: records } : {}) },
    minIntervalMs: reconcileIntervalFor(count, interval),
  };
}

/** Returns new records of ready Pods; Pods that are not ready keep their records. */
function recordsOf(pods: readonly Pod[], { state: { spec, status }, findNode }: Observed): Records {
  const keys = keysOf(spec);
  const records: Record<string, PodState> = {};
  for (const pod of pods.filter(isPodReady)) {
    const { name = '' } = pod.metadata;
    const node = findNode(pod.spec?.nodeName ?? '');
    if (node && !isCurrent(status?.podStates?.[name], node, keys)) records[name] = recordOf(pod, node, keys);
  }
  return records;
}

/** Keys of recorded node labels and Pod annotations. */
type Keys = { readonly labels: readonly string[]; readonly annotations: readonly string[] };

function keysOf(spec: PersistentPodStateSpec): Keys {
  const { requiredPersistentTopology, preferredPersistentTopology = [], persistentPodAnnotations = [] } = spec;
  const preferred = preferredPersistentTopology.flatMap(({ preference }) => preference.keys);
  return {
    labels: [...new Set([...(requiredPersistentTopology?.keys ?? []), ...preferred])],
    annotations: persistentPodAnnotations.map(({ key }) => key),
  };
}

/**
 * Reports whether a record is current for this node and these keys. Pod annotations may change, so a record with
 * annotations never is.
 */
function isCurrent(record: PodState | undefined, { metadata }: Node, { labels, annotations }: Keys): boolean {
  if (!record || record.nodeName !== metadata.name || record.annotations || annotations.length > 0) return false;
  const { nodeTopologyLabels = {} } = record;
  return (
    Object.keys(nodeTopologyLabels).length === labels.length &&
    labels.every((key) => Object.hasOwn(nodeTopologyLabels, key))
  );
}

function recordOf(pod: Pod, { metadata: { name = '', labels } }: Node, keys: Keys): PodState {
  const nodeTopologyLabels = chosen(labels, keys.labels);
  const annotations = chosen(pod.metadata.annotations, keys.annotations);
  return {
    nodeName: name,
    ...(nodeTopologyLabels ? { nodeTopologyLabels } : {}),
    ...(annotations ? { annotations } : {}),
  };
}

type Strings = { readonly [key: string]: string };

/** Returns the entries with one of the keys; undefined if there are none. */
function chosen(from: Strings = {}, keys: readonly string[]): Strings | undefined {
  const entries = keys.filter((key) => Object.hasOwn(from, key)).map((key) => [key, from[key]!] as const);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** Removes the records of Pods that were scaled in and are gone. */
function withoutScaledIn(records: Records, { isWanted }: Workload, pods: readonly Pod[]): Records {
  const present = new Set(pods.map(({ metadata }) => metadata.name));
  const isKept = (name: string) => {
    const ordinal = tryParseInteger(name.slice(name.lastIndexOf('-') + 1));
    return ordinal === undefined || isWanted(Number(ordinal)) || present.has(name);
  };
  return Object.fromEntries(Object.entries(records).filter(([name]) => isKept(name)));
}
