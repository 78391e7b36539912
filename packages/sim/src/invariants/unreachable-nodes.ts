import { node } from '@kruise/api/core/node';
import type { View } from '../view.ts';
import { maxUnnoticedMs } from './lost-pods.ts';

const unreachableTaints: readonly string[] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * Nodes that are NotReady or unreachable and take no new Pods, now or a moment ago. A DaemonSet does not miss Pods on
 * them. An Advanced DaemonSet does not count running Pods on them either, with a feature gate that is enabled in all
 * simulations.
 */
export type UnreachableNodes = {
  /** Observes the cluster; must be called at every step. */
  update(view: View): void;
  /** Returns whether a node may count as unreachable. */
  has(name: string | undefined, now: number): boolean;
};

export function trackUnreachableNodes(): UnreachableNodes {
  const wereReachable = new Set<string>();
  const unreachableAt = new Map<string, number>();
  return {
    update(view) {
      for (const { metadata, spec } of view.list(node)) {
        const name = metadata.name ?? '';
        const isUnreachable = spec?.taints?.some(
          ({ key, effect }) => effect === 'NoSchedule' && unreachableTaints.includes(key ?? ''),
        );
        // A node that has just joined is not ready yet and has no Pods.
        if (!isUnreachable) wereReachable.add(name);
        else if (wereReachable.has(name)) unreachableAt.set(name, view.now);
      }
    },
    has(name, now) {
      const at = name === undefined ? undefined : unreachableAt.get(name);
      return at !== undefined && now - at <= maxUnnoticedMs;
    },
  };
}
