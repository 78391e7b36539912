/** Says of every new Pod with the `KruisePodReady` gate that, as far as Kruise is concerned, it is ready. */
import { type Pod, pod } from '@kruise/api/core/pod';
import { appsGroup, inPlaceUpdateReadyCondition, kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Decision, defineController } from '@kruise/client/controller';
import { controllerOf } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';
import { type Instant, parseTime } from '@kruise/values/time';
import { lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { awaitsBothWords, awaitsFirstWord, openGates } from '../../readiness/pod-readiness.ts';

export const podReadinessController = defineController({
  name: 'pod-readiness-controller',
  component: 'pod-readiness-controller',
  for: pod,
  predicate: ({ type, object }) => type !== 'deleted' && awaitsFirstWord(object),
  // Enough to be there before kubelets are: what they say of a Pod then says at once that it is ready.
  workers: 64,
  observe: (caches, key) => caches.of(pod).get(key),
  decide,
});

/**
 * Whether a Pod waits for the first word of its workload of Kruise's on updates in place, which is the same for all that
 * have just been made: said here, it saves each of them a write, and the kubelet's answer to that.
 */
function isNewOfKruise(found: Pod): boolean {
  return awaitsBothWords(found) && groupOf(controllerOf(found)?.apiVersion ?? '') === appsGroup;
}

/** How long a new Pod is given to find a node: the scheduler is about to write it, and until then nobody needs the word. */
const schedulingMs = 2000;
/** How long a CloneSet is given to say the word itself, with what else it tells the Pod. */
const workloadMs = 10_000;

function patienceMsWith(found: Pod): number {
  if (!found.spec?.nodeName) return schedulingMs;
  return lifecycleStateOf(found) === 'PreparingNormal' ? workloadMs : 0;
}

/** How old a Pod is by the clock here, which may be behind. */
function ageMsOf({ metadata }: Pod, now: Instant): number {
  return metadata.creationTimestamp ? Math.abs(now - parseTime(metadata.creationTimestamp)) : Number.POSITIVE_INFINITY;
}

export function decide(found: Pod, now: Instant): Decision<Pod['status']> {
  if (isBeingDeleted(found) || !awaitsFirstWord(found)) return { actions: [] };
  if (!isNewOfKruise(found)) {
    // Any version will do: of a thousand Pods that start at once kubelets write all the while.
    return { actions: [openGates(found, [kruisePodReadyCondition], now)] };
  }
  const waitMs = patienceMsWith(found) - ageMsOf(found, now);
  if (waitMs > 0) return { actions: [], requeueAfterSeconds: waitMs / 1000 };
  // Its workload may have begun an update meanwhile.
  return {
    actions: [openGates(found, [kruisePodReadyCondition, inPlaceUpdateReadyCondition], now, { atVersion: true })],
  };
}
