import { type Pod, pod } from '@kruise/api/core/pod';
import { isPodActive } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import type { InvariantContext } from './invariant.ts';
import { isFromManager } from './kruise.ts';

/** Maximum time until a component notices a change after a partition, including the backoff of its watch. */
export const maxUnnoticedMs = 120_000;

/** Pods that ended without a deletion by kruise-manager. */
export type LostPods = {
  /** Observes the cluster; must be called at every step. */
  update(view: View): void;
  /** Returns the lost Pods that kruise-manager may not know of yet. */
  recent(now: number): readonly Pod[];
};

export function trackLostPods({ onRequest, view }: Pick<InvariantContext, 'onRequest' | 'view'>): LostPods {
  let active = new Map<string, Pod>();
  const deleted = new Set<string>();
  const lost = new Map<string, { readonly found: Pod; readonly at: number }>();
  onRequest((observed) => {
    if (observed.request.method !== 'DELETE' || !isFromManager(observed)) return undefined;
    const uid = view()?.at(pod, observed.request.path)?.metadata.uid;
    return () => void (uid && deleted.add(uid));
  });
  return {
    update(seen) {
      const present = new Map<string, Pod>();
      for (const each of seen.list(pod)) if (isPodActive(each)) present.set(each.metadata.uid ?? '', each);
      for (const [uid, found] of active) {
        if (!present.has(uid) && !deleted.has(uid)) lost.set(uid, { found, at: seen.now });
      }
      active = present;
    },
    recent(now) {
      for (const [uid, { at }] of lost) if (now - at > maxUnnoticedMs) lost.delete(uid);
      return [...lost.values()].map(({ found }) => found);
    },
  };
}
