/**
 * Deletion order of a CloneSet's Pods: Kubernetes' order, with Pods in crowded topology domains before others. A domain
 * is a node, or a domain of the template's topology spread constraints.
 */
import type { Pod } from '@kruise/api/core/pod';
import { podTemplateOf } from '@kruise/machinery/controller-revision';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import type { State } from './state.ts';

type Rank = (pod: Pod) => number;

export function rankForScaleIn({ update, nodeLabels, isAvailable }: State, pods: readonly Pod[]): readonly Pod[] {
  const constraints = podTemplateOf(update)?.spec?.topologySpreadConstraints ?? [];
  const onNode = rankOnNode(pods, isAvailable);
  const rankOf =
    constraints.length > 0
      ? rankInTopologies(
          pods,
          constraints.map(({ topologyKey }) => topologyKey),
          { nodeLabels, isAvailable, onNode },
        )
      : onNode;
  return rankForDeletion(pods, { isAvailable, rankOf });
}

/** Ranks the Pods of each node: the first Pod to delete has the highest rank, the last Pod has rank 0. */
function rankOnNode(pods: readonly Pod[], isAvailable: (pod: Pod) => boolean): Rank {
  const ranks = new Map<Pod, number>();
  for (const group of Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? '').values()) {
    if (group.length < 2) continue;
    const order = rankForDeletion(group, { isAvailable });
    for (const [position, pod] of order.entries()) ranks.set(pod, order.length - 1 - position);
  }
  return (pod) => ranks.get(pod) ?? 0;
}

type Topologies = Pick<State, 'nodeLabels' | 'isAvailable'> & { readonly onNode: Rank };

/**
 * Ranks the Pods in each topology domain: the first Pod to delete has the highest rank. More domains give more weight.
 */
function rankInTopologies(pods: readonly Pod[], keys: readonly string[], by: Topologies): Rank {
  const ranks = new Map<Pod, number>();
  for (const key of keys) {
    const domains = Map.groupBy(pods, ({ spec }) => (spec?.nodeName ? by.nodeLabels(spec.nodeName)?.[key] : undefined));
    domains.delete(undefined);
    const weight = Math.log(domains.size + 2);
    for (const group of domains.values()) {
      // Within a host every Pod is on the same node.
      const crowding = key === 'kubernetes.io/hostname' ? {} : { rankOf: by.onNode };
      const order = rankForDeletion(group, { isAvailable: by.isAvailable, ...crowding });
      for (const [position, pod] of order.entries()) {
        ranks.set(pod, (ranks.get(pod) ?? 0) + (order.length - position) * weight);
      }
    }
  }
  return (pod) => ranks.get(pod) ?? 0;
}
