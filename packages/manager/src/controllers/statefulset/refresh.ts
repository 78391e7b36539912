import type { Pod } from '@kruise/api/core/pod';
import type { Action } from '@kruise/client/actions';
import { refreshUpdate } from '../../inplace/update.ts';
import { advanceState } from '../../lifecycle/advance.ts';
import { together } from '../../patch-pod.ts';
import { nameOf, type Situation } from './situation.ts';
import { candidates, refusalFault } from './update.ts';

/** Brings on what has begun with Pods, each once in a pass whoever asks (statefulset.md §7.3). */
export type Refresher = {
  /** What is due on a Pod, the first time it is asked about. */
  refresh(pod: Pod): readonly Action[];
  /** Whether anything was due on any Pod so far. */
  hasChanged(): boolean;
  /** When to look again at those asked about. */
  seconds(): readonly number[];
};

export function refresherOf(situation: Situation): Refresher {
  const { set, settings, revisionLabels, update, now } = situation;
  const progress = {
    lifecycle: set.spec.lifecycle,
    gates: settings.gates,
    // A Pod that a raised partition keeps at its revision is no longer to be updated; nor, for the time being, is one
    // that the server refuses to update.
    isUpdated: (pod: Pod) =>
      revisionLabels.isAt(pod, nameOf(update)) ||
      !candidates(situation).some((slot) => slot.pod === pod) ||
      refusalFault(situation, pod) !== undefined,
    isMade: () => true,
  };
  const seen = new Set<Pod>();
  const seconds: number[] = [];
  let hasChanged = false;
  return {
    refresh(pod) {
      if (seen.has(pod)) return [];
      seen.add(pod);
      const { actions, requeueAfterSeconds } = refreshUpdate(pod, situation, now);
      if (requeueAfterSeconds !== undefined) seconds.push(requeueAfterSeconds);
      const due = together([...actions, ...advanceState(pod, progress, now)]);
      hasChanged ||= due.length > 0;
      return due;
    },
    hasChanged: () => hasChanged,
    seconds: () => seconds,
  };
}
