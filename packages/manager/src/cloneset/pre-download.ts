import { asOptional, parallel, remove, type Step } from '@kruise/client/actions';
import { nameOfRevision } from '@kruise/machinery/controller-revision';
import { updateSpecOf } from '../workload/inplace/update-spec.ts';
import { wholePercentValue } from '../workload/percent.ts';
import {
  ignorePreDownload,
  isPreDownloadSettled,
  minimumReplicas,
  preDownload,
} from '../workload/pre-download/pre-download.ts';
import { ownerOf } from './instances.ts';
import { defaultMaxUnavailable, partitionOf, replicasOf } from './numbers.ts';
import type { State } from './state.ts';

/** Creates ImagePullJobs for the images of the update revision, and deletes them when it is the only revision. */
export function preDownloadImages(state: State): readonly Step[] {
  const { cloneSet, settings, current, update, imagePullJobs } = state;
  if (!settings.gates.PreDownloadImageForInPlaceUpdate) return [];
  if (nameOfRevision(current) === nameOfRevision(update))
    return parallel(imagePullJobs.map((job) => asOptional(remove(job))));
  if (isPreDownloadSettled(update)) return [];
  const rolling = cloneSet.spec.updateStrategy?.rollingUpdate;
  const strategy = rolling?.inPlaceUpdateStrategy;
  // Ready Pods at the update revision show that its images work.
  const ready = cloneSet.status?.updateRevision === nameOfRevision(update) ? cloneSet.status.updatedReadyReplicas : 0;
  if (ready < (strategy?.imagePreDownloadMinUpdatedReadyPods ?? 0)) return [];
  const partition = partitionOf(rolling?.partition, replicasOf(cloneSet.spec));
  if (partition === undefined) return [];
  if (!isWorthwhile(state, partition)) return [ignorePreDownload(update)];
  return preDownload({
    workload: cloneSet,
    owner: ownerOf(cloneSet),
    selector: cloneSet.spec.selector,
    from: [current],
    to: update,
    strategy,
  });
}

/**
 * Reports whether a pre-download pays off: not where Pods are recreated anyway, there are few Pods, or all are updated
 * at once.
 */
function isWorthwhile({ cloneSet, settings, current, update }: State, partition: number): boolean {
  const { podUpdatePolicy = 'ReCreate', maxUnavailable = defaultMaxUnavailable } =
    cloneSet.spec.updateStrategy?.rollingUpdate ?? {};
  const replicas = replicasOf(cloneSet.spec);
  if (podUpdatePolicy === 'ReCreate' || replicas <= minimumReplicas) return false;
  if (partition === 0 && wholePercentValue(maxUnavailable, replicas, Math.floor) >= replicas) return false;
  const ignoresVolumeClaims = podUpdatePolicy === 'InPlaceOnly';
  return updateSpecOf(current, update, { gates: settings.gates, ignoresVolumeClaims }) !== undefined;
}
