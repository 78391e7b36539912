/**
 * Availability of a Pod in the sense of PodUnavailableBudgets: the Pod is ready, and its containers run the images of
 * its spec.
 */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import { unavailablePodLabelPrefix } from '@kruise/api/kruise/well-known';
import { memoizeByObject } from '@kruise/values/memoize';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import { injectedSets } from '../sidecarset/marks.ts';
import { isImageExchanged, isRunningAndReady } from '../sidecarset/pod-state.ts';
import { isInjected } from '../sidecarset/shared-fields.ts';
import { updateObstacle } from '../workload/inplace/completion.ts';

/** Reports whether the Pod counts as available for its budget. */
export function isAvailable(pod: Pod, gates: FeatureGates): boolean {
  return isRunningAndReady(pod) && !isMarkedUnavailable(pod) && runsSpecifiedImages(pod) && !updateObstacle(pod, gates);
}

/** Reports whether a Pod is labelled as unavailable. */
export function isMarkedUnavailable({ metadata }: Pod): boolean {
  for (const label in metadata.labels) if (label.startsWith(unavailablePodLabelPrefix)) return true;
  return false;
}

const runsSpecifiedImages = memoizeByObject((pod: Pod) => runsSpecifiedDigests(pod) && runsUpdatedSidecars(pod));

/**
 * Reports whether every container whose image is given by digest runs that digest. Some runtimes report the digest of
 * another object, without its repository: digests that cannot be compared prove nothing. (OpenKruise takes such Pods
 * for unavailable, and leaves them unprotected.) Digests say nothing about sidecars or grace periods either, so these
 * are checked separately.
 */
function runsSpecifiedDigests({ spec, status }: Pod): boolean {
  return (spec?.containers ?? []).every(({ name, image = '' }) => {
    const asked = image.includes('@') ? parseImageReference(image) : undefined;
    if (asked?.digest === undefined) return true;
    const found = status?.containerStatuses?.find((each) => each.name === name);
    if (!found) return false;
    const running = parseImageReference((found.imageID ?? '').replace(/^.*?:\/\//, ''));
    if (running?.digest === undefined) return true;
    return running.repository === asked.repository && running.digest === asked.digest;
  });
}

/** Reports whether no sidecar still runs the image that it had before its update. */
function runsUpdatedSidecars(pod: Pod): boolean {
  const sidecars = new Set((pod.spec?.containers ?? []).filter(isInjected).map(({ name }) => name));
  return sidecars.size === 0 || injectedSets(pod).every((name) => isImageExchanged(pod, name, sidecars));
}
