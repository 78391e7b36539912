/** PodProbeMarker reconciler: writes the probes of a marker into the NodePodProbes of its Pods' nodes. */
import type { Pod } from '@kruise/api/core/pod';
import type { NodePodProbe, PodProbe } from '@kruise/api/kruise/nodepodprobe';
import type { PodProbeMarker, PodProbeMarkerStatus } from '@kruise/api/kruise/podprobemarker';
import { nodePodProbeCleanupFinalizer } from '@kruise/api/kruise/well-known';
import {
  type Action,
  addFinalizer,
  hasFinalizer,
  isBeingDeleted,
  parallel,
  removeFinalizer,
  update,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';
import { mark } from './marks.ts';
import { withoutProbes, withProbes } from './probes.ts';

export type Observed = {
  readonly marker: PodProbeMarker;
  /** Active Pods of the selector on ordinary nodes. */
  readonly pods: readonly Pod[];
  /** Pods on virtual nodes, which the provider probes. */
  readonly virtualPods: readonly Pod[];
  /** Set where the results of the provider are marked on virtual Pods. */
  readonly marksVirtualPods: boolean;
  /** NodePodProbes of all nodes. */
  readonly nodePodProbes: readonly NodePodProbe[];
};

export function decide(observed: Observed): Decision<PodProbeMarkerStatus> {
  const { marker, pods, virtualPods, nodePodProbes } = observed;
  const isHeld = hasFinalizer(marker, nodePodProbeCleanupFinalizer);
  if (isBeingDeleted(marker)) {
    if (!isHeld) return { actions: [] };
    const cleaned = nodePodProbes.flatMap((each) => updateEntries(each, withoutProbes(entriesOf(each), marker)));
    return { actions: [...cleaned, removeFinalizer(marker, nodePodProbeCleanupFinalizer)] };
  }
  const hold = isHeld ? [] : [addFinalizer(marker, nodePodProbeCleanupFinalizer)];
  const byNode = Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? '');
  const nodeUpdates = nodePodProbes.flatMap((each) => {
    const here = byNode.get(each.metadata.name ?? '') ?? [];
    return here.length === 0 ? [] : updateEntries(each, entriesWith(entriesOf(each), marker, here));
  });
  const marked = observed.marksVirtualPods ? virtualPods.flatMap((pod) => mark(marker, pod)) : [];
  const matchedPods = pods.length + virtualPods.length;
  return {
    actions: [...hold, ...parallel(marked), ...nodeUpdates],
    status: {
      observedGeneration: marker.metadata.generation ?? 0,
      ...(matchedPods > 0 ? { matchedPods } : {}),
    },
  };
}

function entriesOf({ spec }: NodePodProbe): readonly PodProbe[] {
  return spec.podProbes ?? [];
}

function entriesWith(entries: readonly PodProbe[], marker: PodProbeMarker, pods: readonly Pod[]): readonly PodProbe[] {
  const isOf = (entry: PodProbe, { metadata }: Pod) => entry.uid === metadata.uid;
  const updated = entries.map((entry) => {
    const pod = pods.find((each) => isOf(entry, each));
    return pod ? withProbes(entry, marker, pod) : entry;
  });
  const missing = pods.filter((pod) => !entries.some((entry) => isOf(entry, pod)));
  const added = missing.map((pod) => withProbes(undefined, marker, pod)).filter(({ probes }) => probes?.length);
  return [...updated, ...added];
}

/** Updates the entries of a NodePodProbe where they differ. */
function updateEntries(nodePodProbe: NodePodProbe, entries: readonly PodProbe[]): readonly Action[] {
  if (isSame(entries, entriesOf(nodePodProbe))) return [];
  const changed: NodePodProbe = { ...nodePodProbe, spec: entries.length > 0 ? { podProbes: entries } : {} };
  return [update(changed)];
}
