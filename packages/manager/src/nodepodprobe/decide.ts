/** NodePodProbe reconciler: keeps a NodePodProbe for every node, and writes the probe results of its daemon to Pods. */
import type { Pod } from '@kruise/api/core/pod';
import type { NodePodProbe, NodePodProbeStatus, PodProbe } from '@kruise/api/kruise/nodepodprobe';
import type { PodProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { create, isBeingDeleted, parallelByKind, remove, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isPodActive } from '@kruise/machinery/pods';
import { writeResults } from './results.ts';

export type Observed = {
  readonly name: string;
  /** Set where the node exists and is not terminating. */
  readonly hasNode: boolean;
  readonly nodePodProbe: NodePodProbe | undefined;
  readonly findPod: (name: { readonly namespace: string; readonly name: string }) => Pod | undefined;
  readonly findMarker: (name: { readonly namespace: string; readonly name: string }) => PodProbeMarker | undefined;
};

export function decide(observed: Observed): Decision<NodePodProbeStatus> {
  const { name, hasNode, nodePodProbe } = observed;
  if (!nodePodProbe) return hasNode ? { actions: [create(newNodePodProbe(name))] } : { actions: [] };
  if (isBeingDeleted(nodePodProbe)) return { actions: [] };
  if (!hasNode) return { actions: [remove(nodePodProbe)] };

  const { podProbes = [] } = nodePodProbe.spec;
  const probed = podProbes.filter((entry) => podOf(entry, observed) !== undefined);
  const isUnchanged = probed.length === podProbes.length;
  const pods = new Map(probed.map((entry) => [entry.uid, podOf(entry, observed)!]));
  const results = (nodePodProbe.status?.podProbeStatuses ?? []).flatMap(({ uid, probeStates = [] }) => {
    const pod = pods.get(uid);
    return pod ? writeResults(pod, probeStates, observed.findMarker) : [];
  });
  const pruned = { ...nodePodProbe, spec: probed.length > 0 ? { podProbes: probed } : {} };
  return { actions: [...(isUnchanged ? [] : [update(pruned)]), ...parallelByKind(results)] };
}

function newNodePodProbe(name: string): NodePodProbe {
  return { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'NodePodProbe', metadata: { name }, spec: {} };
}

/** Returns the Pod of an entry, with the same UID, while the Pod is active. */
function podOf(entry: PodProbe, { findPod }: Observed): Pod | undefined {
  const pod = findPod(entry);
  return pod?.metadata.uid === entry.uid && isPodActive(pod) ? pod : undefined;
}
