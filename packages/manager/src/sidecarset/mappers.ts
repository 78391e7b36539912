/** Event filter: SidecarSets to enqueue when a Pod changes. */
import type { Pod } from '@kruise/api/core/pod';
import { type SidecarSet, sidecarSet } from '@kruise/api/kruise/sidecarset';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { isPodReady } from '@kruise/machinery/pods';
import { injectedSets, isUpdated } from './marks.ts';
import { hasSidecars, isConsistent } from './pod-state.ts';
import { isMigrated } from './update-pod.ts';

export function setsOfPod({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  const sets = injectedSets(object)
    .map((name) => caches.of(sidecarSet).get(name))
    .filter((found) => found !== undefined)
    .filter((found) => hasSidecars(object, found));
  const affected = type === 'added' ? sets : sets.filter((found) => tracksPodUpdates(found) && isRelevantChange(found));
  return affected.map(keyOf);

  function isRelevantChange(found: SidecarSet): boolean {
    return previous === undefined || affectsSidecarSet(found, { before: previous, after: object });
  }
}

/**
 * Reports whether Pod updates enqueue the SidecarSet. A SidecarSet that only injects counts Pods when they are created.
 */
function tracksPodUpdates({ spec }: SidecarSet): boolean {
  return spec.updateStrategy?.type !== 'NotUpdate';
}

function affectsSidecarSet(
  found: SidecarSet,
  { before, after }: { readonly before: Pod; readonly after: Pod },
): boolean {
  const isChosenByLabels = found.spec.updateStrategy?.selector !== undefined;
  return (
    isBeingDeleted(before) !== isBeingDeleted(after) ||
    isPodReady(before) !== isPodReady(after) ||
    before.status?.phase !== after.status?.phase ||
    isConsistent(before, found) !== isConsistent(after, found) ||
    isUpdated(before, found) !== isUpdated(after, found) ||
    isMigrated(before, found) !== isMigrated(after, found) ||
    (isChosenByLabels && !isSame(before.metadata.labels, after.metadata.labels))
  );
}
