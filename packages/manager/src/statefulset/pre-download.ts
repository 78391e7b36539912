import type { Step } from '@kruise/client/actions';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import { updateSpecOf } from '../workload/inplace/update-spec.ts';
import { annotatedStrategy, minUpdatedReadyPods } from '../workload/pre-download/annotations.ts';
import { minimumReplicas, preDownloadRollout } from '../workload/pre-download/pre-download.ts';
import { maxUnavailableOf, partitionOf } from './numbers.ts';
import { replicasOf } from './ordinals.ts';
import type { State } from './state.ts';

/** Pre-downloads the images of the update revision. */
export function preDownloadImages(state: State): readonly Step[] {
  const { set, settings, current, update, imagePullJobs } = state;
  if (!settings.gates.PreDownloadImageForInPlaceUpdate) return [];
  const { status, metadata } = set;
  const ready = status?.updateRevision === nameOfRevision(update) ? (status.updatedReadyReplicas ?? 0) : 0;
  return preDownloadRollout({
    workload: set,
    owner: set,
    selector: set.spec.selector,
    from: [current],
    to: update,
    strategy: annotatedStrategy(metadata.annotations),
    jobs: imagePullJobs,
    isRolledOut: nameOfRevision(current) === nameOfRevision(update),
    isDue: () => ready >= minUpdatedReadyPods(metadata.annotations, replicasOf(set)),
    isWorthwhile: () => isWorthwhile(state),
  });
}

/**
 * Reports whether a pre-download pays off: not where Pods are recreated anyway, there are few Pods, or all are updated
 * at once.
 */
function isWorthwhile({ set, settings, current, update }: State): boolean {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  const { podUpdatePolicy = 'ReCreate' } = rollingUpdate ?? {};
  const replicas = replicasOf(set);
  if (type === 'OnDelete' || podUpdatePolicy === 'ReCreate' || replicas <= minimumReplicas) return false;
  if (partitionOf(set) === 0 && maxUnavailableOf(set) >= replicas) return false;
  return updateSpecOf(current, update, { gates: settings.gates }) !== undefined;
}
