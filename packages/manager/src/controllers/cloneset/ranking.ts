/**
 * Which Pods of a CloneSet can be spared first (cloneset.md §8.7): Kubernetes' order, where Pods of a crowded place go
 * before others. A place is a node, or what the template's spread constraints make one.
 */
import type { Pod } from '@kruise/api/core/pod';
import { podTemplateOf } from '@kruise/machinery/controller-revision';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import type { Situation } from './situation.ts';

type Rank = (pod: Pod) => number;

export function inOrderOfSparing({ update, nodeLabels, isAvailable }: Situation, pods: readonly Pod[]): readonly Pod[] {
  const constraints = podTemplateOf(update)?.spec?.topologySpreadConstraints ?? [];
  const onNode = rankOnNode(pods, isAvailable);
  const crowdingOf =
    constraints.length > 0
      ? rankInTopologies(
          pods,
          constraints.map(({ topologyKey }) => topologyKey),
          { nodeLabels, isAvailable, onNode },
        )
      : onNode;
  return rankForDeletion(pods, { isAvailable, crowdingOf });
}

/** On a node with several Pods the first to go has the highest rank, and the last none. */
function rankOnNode(pods: readonly Pod[], isAvailable: (pod: Pod) => boolean): Rank {
  const ranks = new Map<Pod, number>();
  for (const group of Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? '').values()) {
    if (group.length < 2) continue;
    const order = rankForDeletion(group, { isAvailable });
    for (const [position, pod] of order.entries()) ranks.set(pod, order.length - 1 - position);
  }
  return (pod) => ranks.get(pod) ?? 0;
}

type Topologies = Pick<Situation, 'nodeLabels' | 'isAvailable'> & { readonly onNode: Rank };

/** In every topology the first to go of each domain has the highest rank; the more domains, the more that weighs. */
function rankInTopologies(pods: readonly Pod[], keys: readonly string[], by: Topologies): Rank {
  const ranks = new Map<Pod, number>();
  for (const key of keys) {
    const domains = Map.groupBy(pods, ({ spec }) => (spec?.nodeName ? by.nodeLabels(spec.nodeName)?.[key] : undefined));
    domains.delete(undefined);
    const weight = Math.log(domains.size + 2);
    for (const group of domains.values()) {
      // Within a host every Pod is on the same node.
      const crowding = key === 'kubernetes.io/hostname' ? {} : { crowdingOf: by.onNode };
      const order = rankForDeletion(group, { isAvailable: by.isAvailable, ...crowding });
      for (const [position, pod] of order.entries()) {
        ranks.set(pod, (ranks.get(pod) ?? 0) + (order.length - position) * weight);
      }
    }
  }
  return (pod) => ranks.get(pod) ?? 0;
}
