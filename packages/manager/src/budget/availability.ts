/** Whether a Pod can be relied on, as budgets see it: it is ready, and runs what it should (protection.md §A10). */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import { unavailablePodLabelPrefix } from '@kruise/api/kruise/well-known';
import type { FeatureGates } from '../feature-gates.ts';
import { updateObstacle } from '../inplace/completion.ts';
import { memoize } from '../memoize.ts';
import { isInjected } from '../sidecarset/borrow.ts';
import { injectedSets } from '../sidecarset/marks.ts';
import { isImageExchanged, isRunningAndReady } from '../sidecarset/pod-state.ts';

/** Whether somebody could miss the Pod. */
export function isAvailable(pod: Pod, gates: FeatureGates): boolean {
  return isRunningAndReady(pod) && !isMarkedUnavailable(pod) && runsItsImages(pod) && !updateObstacle(pod, gates);
}

/** Whether a Pod is labelled as one that is not to be relied on. */
export function isMarkedUnavailable({ metadata }: Pod): boolean {
  for (const label in metadata.labels) if (label.startsWith(unavailablePodLabelPrefix)) return true;
  return false;
}

const runsItsImages = memoize((pod: Pod) => runsItsDigests(pod) && runsItsSidecars(pod));

/**
 * Whether every container with an image by its digest runs that. Some runtimes tell the digest of something else, and
 * not of which repository: what cannot be compared proves nothing (the reference takes such Pods for unavailable, and
 * leaves them unprotected). Nor do digests say anything of sidecars or grace periods, so all else is looked at as well.
 */
function runsItsDigests({ spec, status }: Pod): boolean {
  return (spec?.containers ?? []).every(({ name, image = '' }) => {
    const asked = image.includes('@') ? parseImageReference(image) : undefined;
    if (asked?.digest === undefined) return true;
    const told = status?.containerStatuses?.find((each) => each.name === name);
    if (!told) return false;
    const running = parseImageReference((told.imageID ?? '').replace(/^.*?:\/\//, ''));
    if (running?.digest === undefined) return true;
    return running.repository === asked.repository && running.digest === asked.digest;
  });
}

/** Whether no sidecar runs the image any more that it had before its update. */
function runsItsSidecars(pod: Pod): boolean {
  const sidecars = new Set((pod.spec?.containers ?? []).filter(isInjected).map(({ name }) => name));
  return sidecars.size === 0 || injectedSets(pod).every((name) => isImageExchanged(pod, name, sidecars));
}
