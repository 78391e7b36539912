/** How a Pod stands to the sidecars it was given (sidecarset.md §10.1, §10.4). */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { isPodReady } from '@kruise/machinery/pods';
import { memoize } from '../memoize.ts';
import { isHotUpgraded, namesInPod, pairOf, turnsOf } from './hot-upgrade.ts';
import { updateStatesOf, workingContainersOf } from './marks.ts';

/** Whether a Pod has every sidecar of the SidecarSet, whatever it was injected with. */
export function hasSidecars(pod: Pod, { spec }: SidecarSet): boolean {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const names = new Set([...initContainers, ...containers].map(({ name }) => name));
  return (spec.containers ?? []).every((sidecar) => {
    if (!isHotUpgraded(sidecar)) return names.has(sidecar.name);
    return Object.hasOwn(workingContainersOf(pod), sidecar.name) && pairOf(sidecar).every((name) => names.has(name));
  });
}

/** The containers that a Pod has of the SidecarSet. */
export const sidecarNames = memoize(
  ({ spec }: SidecarSet): ReadonlySet<string> => new Set((spec.containers ?? []).flatMap(namesInPod)),
);

/** Whether containers run what the Pod asks for: those named, or all that the SidecarSet gave it. */
export function isConsistent(pod: Pod, sidecarSet: SidecarSet, names = sidecarNames(sidecarSet)): boolean {
  const { containers = [] } = pod.spec ?? {};
  const statuses = pod.status?.containerStatuses ?? [];
  if (containers.length !== statuses.length) return false;
  // An image by its digest says itself whether it is the one that runs. Tags do not.
  for (const { name, image = '' } of containers) {
    if (!names.has(name)) continue;
    const asked = image.includes('@') ? parseImageReference(image) : undefined;
    if (asked?.digest === undefined) return isImageExchanged(pod, sidecarSet.metadata.name ?? '', names);
    const { imageID = '' } = statuses.find((status) => status.name === name) ?? {};
    const running = parseImageReference(imageID.replace(/^.*?:\/\//, ''));
    if (running?.repository !== asked.repository || running.digest !== asked.digest) return false;
  }
  return true;
}

/** Whether no container runs the image any more that it had before the SidecarSet of a name updated it. */
export function isImageExchanged(pod: Pod, sidecarSet: string, names: ReadonlySet<string>): boolean {
  const states = updateStatesOf(pod);
  if (!states) return false;
  const last = states[sidecarSet]?.lastContainerStatuses;
  if (!last) return true;
  const images = new Map(pod.spec?.containers.map(({ name, image }) => [name, image]));
  return (pod.status?.containerStatuses ?? []).every(({ name, image, imageID }) => {
    const before = names.has(name) ? last[name] : undefined;
    return !before || (before.imageID ?? '') !== (imageID ?? '') || images.get(name) === image;
  });
}

/** Whether a Pod runs and is ready, and of each pair of containers one idles. */
export function isReady(pod: Pod, sidecarSet: SidecarSet): boolean {
  return isRunningAndReady(pod) && pairsToEmpty(pod, sidecarSet).length === 0;
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod) && pod.metadata.deletionTimestamp == null;
}

/** The pairs of a Pod whose container that stands by does not idle: a hot upgrade is under way. */
export function pairsToEmpty(pod: Pod, { spec }: SidecarSet) {
  const images = new Map(pod.spec?.containers.map(({ name, image }) => [name, image]));
  return (spec.containers ?? []).filter(isHotUpgraded).flatMap((sidecar) => {
    const { working, standby } = turnsOf(pod, sidecar);
    const emptyImage = sidecar.upgradeStrategy?.hotUpgradeEmptyImage;
    const isIdle = !emptyImage || !images.has(standby) || images.get(standby) === emptyImage;
    return isIdle ? [] : [{ working, standby, emptyImage }];
  });
}
