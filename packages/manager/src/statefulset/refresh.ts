import type { Pod } from '@kruise/api/core/pod';
import type { Action } from '@kruise/client/actions';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import { refreshUpdate } from '../workload/inplace/update.ts';
import { advanceState } from '../workload/lifecycle/advance.ts';
import { mergePatches } from '../workload/patch-pod.ts';
import type { State } from './state.ts';
import { candidates, refusalFault } from './update.ts';

/** Continues what is in progress for Pods, for each Pod once in a reconcile. */
export type Refresher = {
  /** Returns the pending actions of a Pod, on the first call for the Pod. */
  refresh(pod: Pod): readonly Action[];
  /** Reports whether any Pod has had pending actions so far. */
  hasChanged(): boolean;
  /** Returns the requeue delays of the Pods so far. */
  seconds(): readonly number[];
};

export function refresherOf(state: State): Refresher {
  const { set, settings, revisionLabels, update, now } = state;
  const progress = {
    lifecycle: set.spec.lifecycle,
    gates: settings.gates,
    // A Pod that a raised partition keeps at its revision needs no update any more; nor, temporarily, does a Pod that
    // the API server refuses to update.
    isUpdated: (pod: Pod) =>
      revisionLabels.isAt(pod, nameOfRevision(update)) ||
      !candidates(state).some((slot) => slot.pod === pod) ||
      refusalFault(state, pod) !== undefined,
    isMade: () => true,
  };
  const seen = new Set<Pod>();
  const seconds: number[] = [];
  let hasChanged = false;
  return {
    refresh(pod) {
      if (seen.has(pod)) return [];
      seen.add(pod);
      const { actions, requeueAfterSeconds } = refreshUpdate(pod, state, now);
      if (requeueAfterSeconds !== undefined) seconds.push(requeueAfterSeconds);
      const due = mergePatches([...actions, ...advanceState(pod, progress, now)]);
      hasChanged ||= due.length > 0;
      return due;
    },
    hasChanged: () => hasChanged,
    seconds: () => seconds,
  };
}
