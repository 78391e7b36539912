import { type Pod, pod } from '@kruise/api/core/pod';
import { isPodActive } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import type { Scene } from './invariant.ts';
import { isOfManager } from './kruise.ts';

/** Maximum time until a component notices a change after a partition, including the backoff of its watch. */
export const unknownMs = 120_000;

/** Pods that ended without a deletion by kruise-manager. */
export type Losses = {
  /** Observes the cluster; must be called at every step. */
  look(view: View): void;
  /** Returns the lost Pods that kruise-manager may not know of yet. */
  recent(now: number): readonly Pod[];
};

export function watchLosses({ onRequest, view }: Pick<Scene, 'onRequest' | 'view'>): Losses {
  let active = new Map<string, Pod>();
  const deleted = new Set<string>();
  const lost = new Map<string, { readonly found: Pod; readonly at: number }>();
  onRequest((heard) => {
    if (heard.request.method !== 'DELETE' || !isOfManager(heard)) return undefined;
    const uid = view()?.at(pod, heard.request.path)?.metadata.uid;
    return () => void (uid && deleted.add(uid));
  });
  return {
    look(seen) {
      const present = new Map<string, Pod>();
      for (const each of seen.list(pod)) if (isPodActive(each)) present.set(each.metadata.uid ?? '', each);
      for (const [uid, found] of active) {
        if (!present.has(uid) && !deleted.has(uid)) lost.set(uid, { found, at: seen.now });
      }
      active = present;
    },
    recent(now) {
      for (const [uid, { at }] of lost) if (now - at > unknownMs) lost.delete(uid);
      return [...lost.values()].map(({ found }) => found);
    },
  };
}
