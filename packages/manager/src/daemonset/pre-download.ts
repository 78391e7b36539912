import type { DaemonSet } from '@kruise/api/kruise/daemonset';
import type { Step } from '@kruise/client/actions';
import { updateBudget } from '@kruise/workload-kit/daemonset/state';
import { annotatedStrategy } from '../workload/pre-download/annotations.ts';
import { preDownloadRollout } from '../workload/pre-download/pre-download.ts';
import { partitionOf } from './numbers.ts';
import type { State } from './state.ts';

/** Pre-downloads the images of the current template. */
export function preDownloadImages(state: State): readonly Step[] {
  const { set, settings, hash, current, old, imagePullJobs } = state;
  if (!settings.gates.PreDownloadImageForDaemonSetUpdate) return [];
  const { updatedNumberScheduled, desiredNumberScheduled = 0, updateRevision } = set.status ?? {};
  return preDownloadRollout({
    workload: set,
    owner: set,
    selector: set.spec.selector,
    from: old,
    to: current,
    strategy: annotatedStrategy(set.metadata.annotations),
    jobs: imagePullJobs,
    isRolledOut: updatedNumberScheduled === desiredNumberScheduled && updateRevision === hash,
    isDue: () => true,
    isWorthwhile: () => isWorthwhile(set, desiredNumberScheduled),
  });
}

/** Reports whether a pre-download pays off: not where Pods are deleted by users, or all nodes are updated at once. */
function isWorthwhile(set: DaemonSet, desired: number): boolean {
  if (set.spec.updateStrategy?.type === 'OnDelete') return false;
  const { maxUnavailable } = updateBudget(set, desired);
  return partitionOf(set) !== 0 || maxUnavailable < desired;
}
