import * as s from '@kruise/schema';
import { objectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';
import { ageColumn } from './columns.ts';
import { imagePullPolicy, sandboxConfig } from './image-pull.ts';

const doc = 'The images to pull on a node, and the progress. Has the name of its node; written by Kruise.';

const pullSecretFields = {
  namespace: s.optional(s.string(), 'Namespace of the Secret.'),
  name: s.optional(s.string(), 'Name of the Secret.'),
};

const pullSecret = s.object({
  ...pullSecretFields,
  mode: s.optional(
    s.string(),
    'batch for a copy of the Secret that several jobs share; such a reference goes when the last job does.',
  ),
});

export type PullSecret = s.TypeOf<typeof pullSecret>;

const tagPullPolicy = s.object({
  timeoutSeconds: s.pointer(s.int32(), 'Timeout of one attempt in seconds. Default 600.'),
  backoffLimit: s.pointer(s.int32(), 'Number of retries after the first attempt. Default 3.'),
  ttlSecondsAfterFinished: s.pointer(s.int32(), 'Time to live of a finished entry in seconds. Required.'),
  activeDeadlineSeconds: s.pointer(s.int64(), 'Deadline of all attempts together in seconds. Unset: no limit.'),
});

export const imageTagSpec = s.object({
  tag: s.required(s.string(), 'Tag or digest of the image.'),
  createdAt: s.pointer(
    s.dateTime(),
    'Time at which the entry was created; the timeout of unresponsive nodes is counted from it.',
  ),
  pullPolicy: s.pointer(tagPullPolicy, 'Timeout, number of attempts, and time to keep the result.'),
  ownerReferences: s.optional(s.list(objectReference), 'References to the jobs that requested the tag.'),
  version: s.optional(s.int64(), 'Raised to have the tag fetched once more.'),
  imagePullPolicy: s.optional(
    imagePullPolicy,
    'Pull policy: IfNotPresent skips an image that is present; any other value pulls it.',
  ),
});
export type ImageTagSpec = s.TypeOf<typeof imageTagSpec>;

function imageSpecWith<N extends s.Node>(secret: N) {
  return s.object({
    pullSecrets: s.optional(s.list(secret), 'Secrets with the credentials for the registry.'),
    tags: s.required(s.list(imageTagSpec), 'The tags to fetch, in order of tag.'),
    sandboxConfig: s.pointer(sandboxConfig, 'Passed to the container runtime with the image.'),
  });
}

export const imageSpec = imageSpecWith(pullSecret);
export type ImageSpec = s.TypeOf<typeof imageSpec>;

const imagesDoc = 'Images to pull, by name without tag; at most 256.';

export const nodeImageSpec = s.object({ images: s.optional(s.map(imageSpec), imagesDoc) });
export type NodeImageSpec = s.TypeOf<typeof nodeImageSpec>;

export const nodeImageSpecV1alpha1 = s.object({
  images: s.optional(s.map(imageSpecWith(s.object(pullSecretFields))), imagesDoc),
});

export const imageTagStatus = s.object({
  tag: s.required(s.string(), 'Tag or digest of the image.'),
  phase: s.required(s.oneOf(['Waiting', 'Pulling', 'Succeeded', 'Failed']), 'Waiting, Pulling, Succeeded or Failed.'),
  progress: s.optional(s.int32(), 'Progress of the download, 0 to 100; reset by a retry.'),
  startTime: s.pointer(s.dateTime(), 'Time at which the node started.'),
  completionTime: s.pointer(s.dateTime(), 'Time at which the node finished, successfully or not.'),
  version: s.optional(s.int64(), 'The version of the entry this is about; another one means it is out of date.'),
  imageID: s.optional(s.string(), 'ID of the image in the container runtime.'),
  message: s.optional(s.string(), 'Reason of the failure.'),
});
export type ImageTagStatus = s.TypeOf<typeof imageTagStatus>;

const imageStatus = s.object({
  tags: s.required(s.list(imageTagStatus), 'Statuses of the tags.'),
});

const firstSyncStatus = s.object({
  syncAt: s.optional(s.dateTime(), 'Time at which the first synchronization ended.'),
  status: s.optional(s.oneOf(['Succeeded', 'Failed']), 'Result of the first synchronization.'),
  message: s.optional(s.string(), 'Error message of the first synchronization.'),
});

export const nodeImageStatus = s.object({
  desired: s.required(s.int32(), 'Tags to fetch in all.'),
  succeeded: s.present(s.int32(), 'Tags the node has now.'),
  failed: s.present(s.int32(), 'Tags the node gave up on.'),
  pulling: s.present(s.int32(), 'Tags the node is fetching.'),
  waiting: s.present(s.int32(), 'Tags that wait for their turn.'),
  imageStatuses: s.optional(s.map(imageStatus), 'Statuses of the images by name.'),
  firstSyncStatus: s.pointer(
    firstSyncStatus,
    'Result of the first synchronization on a new node. Not written at present.',
  ),
});
export type NodeImageStatus = s.TypeOf<typeof nodeImageStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'NodeImage',
  plural: 'nodeimages',
  scope: 'Cluster',
  subresources: ['status'],
  columns: [
    { name: 'DESIRED', type: 'integer', jsonPath: '.status.desired' },
    { name: 'PULLING', type: 'integer', jsonPath: '.status.pulling' },
    { name: 'SUCCEED', type: 'integer', jsonPath: '.status.succeeded' },
    { name: 'FAILED', type: 'integer', jsonPath: '.status.failed' },
    ageColumn,
  ],
} as const;

export const nodeImage = kind('io.kruise.apps.v1beta1.NodeImage', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(nodeImageSpec, 'Specification: images that the node pulls.'),
    status: s.optional(nodeImageStatus, 'Status: progress of the images.'),
  },
});
export type NodeImage = s.TypeOf<typeof nodeImage>;

export const nodeImageV1alpha1 = kind('io.kruise.apps.v1alpha1.NodeImage', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(nodeImageSpecV1alpha1, 'Specification: images that the node pulls.'),
    status: s.optional(nodeImageStatus, 'Status: progress of the images.'),
  },
});
export type NodeImageV1alpha1 = s.TypeOf<typeof nodeImageV1alpha1>;
