/** State of a Pod's injected sidecars. */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { isPodRunningAndReady } from '@kruise/machinery/pods';
import { memoizeByObject } from '@kruise/values/memoize';
import { isHotUpgraded, namesInPod, pairOf, workingPairOf } from './hot-upgrade.ts';
import { updateStatesOf, workingContainersOf } from './marks.ts';

/** Reports whether a Pod has every sidecar of the SidecarSet, whatever its mark is. */
export function hasSidecars(pod: Pod, { spec }: SidecarSet): boolean {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const names = new Set([...initContainers, ...containers].map(({ name }) => name));
  return (spec.containers ?? []).every((sidecar) => {
    if (!isHotUpgraded(sidecar)) return names.has(sidecar.name);
    return Object.hasOwn(workingContainersOf(pod), sidecar.name) && pairOf(sidecar).every((name) => names.has(name));
  });
}

/** Returns the names of a SidecarSet's containers in Pods. */
export const sidecarNames = memoizeByObject(
  ({ spec }: SidecarSet): ReadonlySet<string> => new Set((spec.containers ?? []).flatMap(namesInPod)),
);

/** Reports whether containers run the images of the Pod spec: the given ones, or all that the SidecarSet injected. */
export function isConsistent(pod: Pod, sidecarSet: SidecarSet, names = sidecarNames(sidecarSet)): boolean {
  const { containers = [] } = pod.spec ?? {};
  const statuses = pod.status?.containerStatuses ?? [];
  if (containers.length !== statuses.length) return false;
  // An image with a digest identifies the running image. A tag does not.
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

/** Reports whether no container still runs the image that it had before the named SidecarSet updated it. */
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

/** Reports whether a Pod is running and ready, and one container of each hot-upgrade pair is idle. */
export function isReady(pod: Pod, sidecarSet: SidecarSet): boolean {
  return isRunningAndReady(pod) && pairsToEmpty(pod, sidecarSet).length === 0;
}

export function isRunningAndReady(pod: Pod): boolean {
  return isPodRunningAndReady(pod) && pod.metadata.deletionTimestamp == null;
}

/** Returns the pairs whose standby container is not idle yet: a hot upgrade is in progress. */
export function pairsToEmpty(pod: Pod, { spec }: SidecarSet) {
  const images = new Map(pod.spec?.containers.map(({ name, image }) => [name, image]));
  return (spec.containers ?? []).filter(isHotUpgraded).flatMap((sidecar) => {
    const { working, standby } = workingPairOf(pod, sidecar);
    const emptyImage = sidecar.upgradeStrategy?.hotUpgradeEmptyImage;
    const isIdle = !emptyImage || !images.has(standby) || images.get(standby) === emptyImage;
    return isIdle ? [] : [{ working, standby, emptyImage }];
  });
}
