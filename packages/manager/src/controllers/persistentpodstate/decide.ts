/** Remembers where the Pods of a workload are (persistentpodstate.md §7.2). */
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
import type { Workload } from './workloads.ts';

export type Observed = {
  readonly state: PersistentPodState;
  readonly workload: Workload | undefined;
  /** The Pods the workload is the controller of. */
  readonly pods: readonly Pod[];
  readonly findNode: (name: string) => Node | undefined;
};

type Records = { readonly [podName: string]: PodState };

/** The status holds every Pod: of a large workload it had better be written for many changes at once. */
const maxRestMs = 1000;

export function decide(observed: Observed): Decision<PersistentPodStateStatus> {
  const { state, workload } = observed;
  const observedGeneration = state.metadata.generation ?? 0;
  if (!workload || isBeingDeleted(workload.object)) return { actions: [], status: { observedGeneration } };
  const pods = workload.replicas === 0 ? [] : observed.pods.filter(isPodActive);
  const known = { ...state.status?.podStates, ...recordsOf(pods, observed) };
  const records =
    state.spec.persistentPodStateRetentionPolicy === 'WhenDeleted' ? known : wanted(known, workload, pods);
  const count = Object.keys(records).length;
  return {
    actions: [],
    status: { observedGeneration, ...(count > 0 ? { podStates: records } : {}) },
    restMs: Math.min(count, maxRestMs),
  };
}

/** What there is to remember of Pods that are ready; one that is not ready is remembered as it was. */
function recordsOf(pods: readonly Pod[], { state: { spec, status }, findNode }: Observed): Records {
  const topologyKeys = topologyKeysOf(spec);
  const annotationKeys = (spec.persistentPodAnnotations ?? []).map(({ key }) => key);
  const entries = pods.filter(isPodReady).flatMap((pod): readonly (readonly [string, PodState])[] => {
    const { name = '', annotations } = pod.metadata;
    const nodeName = pod.spec?.nodeName ?? '';
    const former = status?.podStates?.[name];
    const isKnown = former?.nodeName === nodeName && isOfKeys(former, topologyKeys);
    // Annotations change while a Pod runs.
    if (isKnown && annotationKeys.length === 0 && !former.annotations) return [];
    const node = findNode(nodeName);
    if (!node) return [];
    const labels = chosen(node.metadata.labels, topologyKeys);
    return [
      [
        name,
        {
          nodeName,
          ...given('nodeTopologyLabels', labels),
          ...given('annotations', chosen(annotations, annotationKeys)),
        },
      ],
    ];
  });
  return Object.fromEntries(entries);
}

function topologyKeysOf({ requiredPersistentTopology, preferredPersistentTopology = [] }: PersistentPodStateSpec) {
  const preferred = preferredPersistentTopology.flatMap(({ preference }) => preference.keys);
  return [...new Set([...(requiredPersistentTopology?.keys ?? []), ...preferred])];
}

function isOfKeys({ nodeTopologyLabels = {} }: PodState, keys: readonly string[]): boolean {
  const recorded = Object.keys(nodeTopologyLabels);
  return recorded.length === keys.length && keys.every((key) => Object.hasOwn(nodeTopologyLabels, key));
}

type Strings = { readonly [key: string]: string };

function chosen(from: Strings = {}, keys: readonly string[]): Strings {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(from, key)).map((key) => [key, from[key]!]));
}

function given(name: 'nodeTopologyLabels' | 'annotations', strings: Strings): Partial<PodState> {
  return Object.keys(strings).length > 0 ? { [name]: strings } : {};
}

/** Without the Pods that were scaled in and are gone. */
function wanted(records: Records, { isWanted }: Workload, pods: readonly Pod[]): Records {
  const present = new Set(pods.map(({ metadata }) => metadata.name));
  const isKept = (name: string) => {
    const ordinal = tryParseInteger(name.slice(name.lastIndexOf('-') + 1));
    return ordinal === undefined || isWanted(Number(ordinal)) || present.has(name);
  };
  return Object.fromEntries(Object.entries(records).filter(([name]) => isKept(name)));
}
