import { asOptional, parallel, remove, type Step } from '@kruise/client/actions';
import { updateBudget } from '@kruise/workload-kit/daemonset/state';
import { annotatedStrategy } from '../workload/pre-download/annotations.ts';
import { ignorePreDownload, isPreDownloadSettled, preDownload } from '../workload/pre-download/pre-download.ts';
import { partitionOf } from './numbers.ts';
import type { State } from './state.ts';

/** Creates ImagePullJobs for the images of the current template, and deletes them when every node is updated. */
export function preDownloadImages(state: State): readonly Step[] {
  const { set, settings, hash, current, old, imagePullJobs } = state;
  if (!settings.gates.PreDownloadImageForDaemonSetUpdate) return [];
  const { updatedNumberScheduled, desiredNumberScheduled = 0, updateRevision } = set.status ?? {};
  const isEverywhere = updatedNumberScheduled === desiredNumberScheduled && updateRevision === hash;
  if (isEverywhere) return parallel(imagePullJobs.map((job) => asOptional(remove(job))));
  if (isPreDownloadSettled(current)) return [];
  const isOnDelete = set.spec.updateStrategy?.type === 'OnDelete';
  const { maxUnavailable } = updateBudget(set, desiredNumberScheduled);
  // A pre-download does not pay off where all nodes are updated at once.
  const isAtOnce = partitionOf(set) === 0 && maxUnavailable >= desiredNumberScheduled;
  if (isOnDelete || isAtOnce) return [ignorePreDownload(current)];
  return preDownload({
    workload: set,
    owner: set,
    selector: set.spec.selector,
    from: old,
    to: current,
    strategy: annotatedStrategy(set.metadata.annotations),
  });
}
