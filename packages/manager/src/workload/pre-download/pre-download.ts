/** Pre-download of the images of a revision to the nodes, before Pods are updated in place. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { ImagePullJob } from '@kruise/api/kruise/imagepulljob';
import type { InPlaceUpdateStrategy } from '@kruise/api/kruise/in-place-update';
import { imagePreDownloadCreatedLabel, imagePreDownloadIgnoredLabel } from '@kruise/api/kruise/well-known';
import type { LabelSelector } from '@kruise/api/meta/label-selector';
import {
  type Action,
  asOptional,
  create,
  parallel,
  patch,
  remove,
  type Step,
  withOutcomeEvents,
} from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';
import { podRevisionLabel, podTemplateOf, revisionHashLabel } from '@kruise/machinery/controller-revision';
import { controllerReference, type Owner } from '@kruise/machinery/owner-references';

export type PreDownload = {
  readonly workload: KubernetesObject;
  readonly owner: Owner;
  readonly selector: LabelSelector;
  /** The revisions that Pods are updated from. */
  readonly from: readonly ControllerRevision[];
  readonly to: ControllerRevision;
  readonly strategy: InPlaceUpdateStrategy | undefined;
};

/** A rollout, as far as it matters to the pre-download of its images. */
export type RolloutImages = PreDownload & {
  /** ImagePullJobs that the workload created. */
  readonly jobs: readonly ImagePullJob[];
  /** Set where all Pods are at the update revision, so that the jobs are not needed any more. */
  readonly isRolledOut: boolean;
  /** Reports whether enough updated Pods are ready: they show that the images work. */
  readonly isDue: () => boolean;
  /** Reports whether a pre-download pays off; otherwise the revision is marked as ignored. */
  readonly isWorthwhile: () => boolean;
};

/** Creates ImagePullJobs for the images of the update revision, and deletes them when the rollout is over. */
export function preDownloadRollout({
  jobs,
  isRolledOut,
  isDue,
  isWorthwhile,
  ...download
}: RolloutImages): readonly Step[] {
  if (isRolledOut) return parallel(jobs.map((job) => asOptional(remove(job))));
  if (isPreDownloadSettled(download.to) || !isDue()) return [];
  return isWorthwhile() ? preDownload(download) : [ignorePreDownload(download.to)];
}

/** Minimum number of replicas for which pre-downloading is worthwhile. */
export const minimumReplicas = 3;

/** Reports whether the pre-download of a revision was already started or skipped. */
function isPreDownloadSettled({ metadata: { labels = {} } }: ControllerRevision): boolean {
  return imagePreDownloadCreatedLabel in labels || imagePreDownloadIgnoredLabel in labels;
}

/** Labels a revision whose images need no pre-download. */
function ignorePreDownload(revision: ControllerRevision): Action {
  return asOptional(patch(revision, { metadata: { labels: { [imagePreDownloadIgnoredLabel]: 'true' } } }));
}

/**
 * Returns the creation of a job for each new image, and the label that records it. A failure never blocks the update.
 */
function preDownload(download: PreDownload): readonly Step[] {
  const { workload, to } = download;
  const jobs = newImages(download).map(({ container, image }) => {
    const job = jobFor(download, container, image);
    const { name = '' } = job.metadata;
    return asOptional(
      withOutcomeEvents(create(job), {
        about: workload,
        done: { reason: 'CreatedImagePullJob', message: `created ImagePullJob ${name} for image: ${image}` },
        failed: { reason: 'FailedCreateImagePullJob', message: `failed to create ImagePullJob ${name}: {error}` },
      }),
    );
  });
  return [
    ...parallel(jobs),
    asOptional(patch(to, { metadata: { labels: { [imagePreDownloadCreatedLabel]: 'true' } } })),
  ];
}

function newImages({ from, to }: PreDownload) {
  const imagesOf = (revision: ControllerRevision) =>
    (podTemplateOf(revision)?.spec?.containers ?? []).map(({ name, image = '' }) => ({ container: name, image }));
  const former = Map.groupBy(from.flatMap(imagesOf), ({ container }) => container);
  // Nodes with Pods of a revision that had another image may not have this one.
  return imagesOf(to).filter(
    ({ container, image }) => former.get(container)?.some((each) => each.image !== image) ?? true,
  );
}

function jobFor(
  { owner, workload, selector, to, strategy }: PreDownload,
  container: string,
  image: string,
): ImagePullJob {
  const template = podTemplateOf(to);
  const { name: revision = '', labels: revisionLabels = {} } = to.metadata;
  const hash = revisionLabels[revisionHashLabel] ?? '';
  const labels = { ...template?.metadata?.labels, [revisionHashLabel]: hash };
  const annotations = template?.metadata?.annotations;
  const pullSecrets = template?.spec?.imagePullSecrets?.flatMap(({ name }) => name ?? []);
  const { namespace } = workload.metadata;
  const notYetUpdated = { key: podRevisionLabel, operator: 'NotIn' as const, values: [revision, hash] };
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ImagePullJob',
    metadata: {
      name: `${revision}-${container}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      image,
      ...(pullSecrets && pullSecrets.length > 0 ? { pullSecrets } : {}),
      podSelector: { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), notYetUpdated] },
      parallelism: strategy?.imagePreDownloadParallelism ?? 1,
      pullPolicy: { backoffLimit: 1, timeoutSeconds: strategy?.imagePreDownloadTimeoutSeconds ?? 300 },
      completionPolicy: { type: 'Always', ttlSecondsAfterFinished: 600 },
      sandboxConfig: { labels, ...(annotations && Object.keys(annotations).length > 0 ? { annotations } : {}) },
    },
  };
}
