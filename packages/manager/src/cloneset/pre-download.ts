import type { Step } from '@kruise/client/actions';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import { updateSpecOf } from '../workload/inplace/update-spec.ts';
import { wholePercentValue } from '../workload/percent.ts';
import { minimumReplicas, preDownloadRollout } from '../workload/pre-download/pre-download.ts';
import { ownerOf } from './instances.ts';
import { defaultMaxUnavailable, partitionOf, replicasOf } from './numbers.ts';
import type { State } from './state.ts';

/** Pre-downloads the images of the update revision. */
export function preDownloadImages(state: State): readonly Step[] {
  const { cloneSet, settings, current, update, imagePullJobs } = state;
  if (!settings.gates.PreDownloadImageForInPlaceUpdate) return [];
  const rolling = cloneSet.spec.updateStrategy?.rollingUpdate;
  const strategy = rolling?.inPlaceUpdateStrategy;
  const partition = partitionOf(rolling?.partition, replicasOf(cloneSet.spec));
  const ready = cloneSet.status?.updateRevision === nameOfRevision(update) ? cloneSet.status.updatedReadyReplicas : 0;
  return preDownloadRollout({
    workload: cloneSet,
    owner: ownerOf(cloneSet),
    selector: cloneSet.spec.selector,
    from: [current],
    to: update,
    strategy,
    jobs: imagePullJobs,
    isRolledOut: nameOfRevision(current) === nameOfRevision(update),
    // An invalid partition updates no Pod.
    isDue: () => ready >= (strategy?.imagePreDownloadMinUpdatedReadyPods ?? 0) && partition !== undefined,
    isWorthwhile: () => isWorthwhile(state, partition),
  });
}

/**
 * Reports whether a pre-download pays off: not where Pods are recreated anyway, there are few Pods, or all are updated
 * at once.
 */
function isWorthwhile({ cloneSet, settings, current, update }: State, partition: number | undefined): boolean {
  const { podUpdatePolicy = 'ReCreate', maxUnavailable = defaultMaxUnavailable } =
    cloneSet.spec.updateStrategy?.rollingUpdate ?? {};
  const replicas = replicasOf(cloneSet.spec);
  if (podUpdatePolicy === 'ReCreate' || replicas <= minimumReplicas) return false;
  if (partition === 0 && wholePercentValue(maxUnavailable, replicas, Math.floor) >= replicas) return false;
  const ignoresVolumeClaims = podUpdatePolicy === 'InPlaceOnly';
  return updateSpecOf(current, update, { gates: settings.gates, ignoresVolumeClaims }) !== undefined;
}
