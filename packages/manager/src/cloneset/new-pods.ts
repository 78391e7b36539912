/**
 * Sets the InPlaceUpdateReady condition and the lifecycle state Normal of a new CloneSet Pod in one write, as soon as
 * the Pod is scheduled: a reconcile that creates thousands of Pods takes seconds, and kubelets are faster.
 */
import { type Pod, pod } from '@kruise/api/core/pod';
import { type CloneSet, cloneSet } from '@kruise/api/kruise/cloneset';
import { sequence } from '@kruise/client/actions';
import { type Controller, type Decision, defineController } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { controllerOf } from '@kruise/machinery/owner-references';
import type { Instant } from '@kruise/values/time';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import type { ManagerSettings } from '../configuration/settings.ts';
import { advanceState } from '../workload/lifecycle/advance.ts';
import { mergePatches } from '../workload/patch-pod.ts';
import { firstReadinessOf, isScheduled } from '../workload/readiness/first-readiness.ts';
import { endInPlaceUpdate } from '../workload/readiness/pod-readiness.ts';

/** A Pod and the CloneSet that owns the Pod. */
type Observed = { readonly found: Pod; readonly owner: CloneSet };

export function newPodsController({ gates }: ManagerSettings): Controller {
  return defineController({
    // A separate name, so that its writes do not queue behind the writes of a CloneSet reconcile.
    name: 'cloneset-new-pods',
    component: 'cloneset-controller',
    for: pod,
    uses: [cloneSet],
    predicate: ({ type, object }) => type !== 'deleted' && isSetHere(object),
    // Enough workers to be faster than the kubelets: their first status update then reports the Pod as ready at once.
    workers: 64,
    observe,
    decide: (observed, now) => decideNewPod(observed, gates, now),
  });
}

/** Reports whether the first readiness of a Pod is set here. After a delay, pod-readiness sets it. */
function isSetHere(found: Pod): boolean {
  return firstReadinessOf(found)?.writer === 'cloneset';
}

function observe(caches: Caches, key: Key): Observed | undefined {
  const found = caches.of(pod).get(key);
  const controller = found && controllerOf(found);
  if (!found || controller?.kind !== cloneSet.kind) return undefined;
  const owner = caches.of(cloneSet).get({ namespace: found.metadata.namespace ?? '', name: controller.name });
  return owner?.metadata.uid === controller.uid ? { found, owner } : undefined;
}

export function decideNewPod({ found, owner }: Observed, gates: FeatureGates, now: Instant): Decision<Pod['status']> {
  if (!isSetHere(found)) return { actions: [] };
  const progress = { lifecycle: owner.spec.lifecycle, gates, isUpdated: () => true, isMade: isScheduled };
  return { actions: sequence(mergePatches([...endInPlaceUpdate(found, now), ...advanceState(found, progress, now)])) };
}
