import { node } from '@kruise/api/core/node';
import type { View } from '../view.ts';
import { unknownMs } from './losses.ts';

const silent: readonly string[] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * Nodes that are NotReady or unreachable and take no new Pods, now or a moment ago. A DaemonSet does not miss Pods on
 * them. An Advanced DaemonSet does not count running Pods on them either, with a feature gate that is enabled in all
 * simulations.
 */
export type UnfitNodes = {
  /** Observes the cluster; must be called at every step. */
  look(view: View): void;
  /** Returns whether a node may count as unreachable. */
  has(name: string | undefined, now: number): boolean;
};

export function watchUnfitNodes(): UnfitNodes {
  const wereFit = new Set<string>();
  const unfitAt = new Map<string, number>();
  return {
    look(view) {
      for (const { metadata, spec } of view.list(node)) {
        const name = metadata.name ?? '';
        const isUnfit = spec?.taints?.some(({ key, effect }) => effect === 'NoSchedule' && silent.includes(key ?? ''));
        // A node that has just joined is not ready yet and has no Pods.
        if (!isUnfit) wereFit.add(name);
        else if (wereFit.has(name)) unfitAt.set(name, view.now);
      }
    },
    has(name, now) {
      const at = name === undefined ? undefined : unfitAt.get(name);
      return at !== undefined && now - at <= unknownMs;
    },
  };
}
