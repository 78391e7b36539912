/** Sidecars that are never gone: two containers take turns, and the one whose turn it is not idles (sidecarset.md §11). */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarContainer } from '@kruise/api/kruise/sidecarset';
import { workingContainersOf } from './marks.ts';

export function isHotUpgraded({ upgradeStrategy }: SidecarContainer): boolean {
  return upgradeStrategy?.upgradeType === 'HotUpgrade';
}

/** The names of the two containers. */
export function pairOf({ name }: SidecarContainer): readonly [string, string] {
  return [`${name}-1`, `${name}-2`];
}

/** What a sidecar is called in Pods. */
export function namesInPod(sidecar: SidecarContainer): readonly string[] {
  return isHotUpgraded(sidecar) ? pairOf(sidecar) : [sidecar.name];
}

/** Which container of the pair works, and which stands by. Where nothing is said the second works. */
export function turnsOf(pod: Pod, sidecar: SidecarContainer): { readonly working: string; readonly standby: string } {
  const [first, second] = pairOf(sidecar);
  return workingContainersOf(pod)[sidecar.name] === first
    ? { working: first, standby: second }
    : { working: second, standby: first };
}
