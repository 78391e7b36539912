import { node } from '@kruise/api/core/node';
import type { View } from '../view.ts';
import { unknownMs } from './losses.ts';

const silent: readonly string[] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * Nodes that take no new Pods since they fell silent, or did so a moment ago. A DaemonSet does not miss Pods there, and with
 * a gate that all worlds have open, one of Kruise's does not count those that still run there either (daemonset.md §5.7).
 */
export type UnfitNodes = {
  /** Looks at the cluster; to be called at every step. */
  look(view: View): void;
  /** Whether a node may be taken for unfit. */
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
        // One that has just joined is not ready yet, and has no Pods to lose.
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
