import type { Pod } from '@kruise/api/core/pod';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';

const known = new WeakMap<readonly Pod[], ReadonlyMap<string, readonly Pod[]>>();

/** Returns the active Pods by the uid of their controller. Memoized, because many invariants use the same Pods. */
export function activeByOwner(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  let found = known.get(pods);
  if (!found) known.set(pods, (found = groupActive(pods)));
  return found;
}

function groupActive(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const found = new Map<string, Pod[]>();
  for (const each of pods) {
    const uid = controllerOf(each)?.uid;
    if (uid === undefined || !isPodActive(each)) continue;
    const list = found.get(uid);
    if (list) list.push(each);
    else found.set(uid, [each]);
  }
  return found;
}

/**
 * Returns an upper limit that may be lowered at any time, but applies only once the actual value has come down to it.
 */
export function ceiling() {
  const allowed = new Map<string, number>();
  return (id: string, wanted: number, actual: number): number => {
    const limit = Math.max(wanted, allowed.get(id) ?? wanted);
    allowed.set(id, Math.max(wanted, Math.min(limit, actual)));
    return limit;
  };
}

/** Returns a lower limit that may be raised at any time, but applies only once the actual value has reached it. */
export function floor() {
  const required = new Map<string, number>();
  return (id: string, wanted: number, actual: number): number => {
    const limit = Math.min(wanted, required.get(id) ?? 0);
    required.set(id, Math.min(wanted, Math.max(limit, actual)));
    return limit;
  };
}
