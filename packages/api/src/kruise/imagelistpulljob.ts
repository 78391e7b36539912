import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { ageColumn } from './columns.ts';
import { imagePullJobTemplate } from './image-pull.ts';

const doc = 'Pulls several images on many nodes before Pods need them there, through one ImagePullJob for each.';

export const imageListPullJobSpec = s.object({
  images: s.required(s.list(s.string()), 'The images to fetch, with tag or digest: 1 to 255, each once.'),
  ...imagePullJobTemplate,
});
export type ImageListPullJobSpec = s.TypeOf<typeof imageListPullJobSpec>;

const failedImageStatus = s.object({
  imagePullJob: s.optional(s.string(), 'Name of the ImagePullJob that knows which nodes failed.'),
  name: s.optional(s.string(), 'The image that some node could not fetch.'),
  message: s.optional(s.string(), 'Reference to the cause of a failure.'),
});

export const imageListPullJobStatus = s.object({
  startTime: s.pointer(s.dateTime(), 'Time at which the controller first observed the job.'),
  completionTime: s.pointer(s.dateTime(), 'Time at which the last image was finished.'),
  desired: s.required(s.int32(), 'Images to fetch.'),
  active: s.present(s.int32(), 'Images some node is fetching.'),
  completed: s.present(s.int32(), 'Images every node is done with, well or not.'),
  succeeded: s.present(s.int32(), 'Images every node has now.'),
  failedImageStatuses: s.optional(s.list(failedImageStatus), 'Images some node gave up on.'),
});
export type ImageListPullJobStatus = s.TypeOf<typeof imageListPullJobStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'ImageListPullJob',
  plural: 'imagelistpulljobs',
  scope: 'Namespaced',
  subresources: ['status'],
  columns: [
    { name: 'TOTAL', type: 'integer', jsonPath: '.status.desired' },
    { name: 'SUCCEEDED', type: 'integer', jsonPath: '.status.succeeded' },
    { name: 'COMPLETED', type: 'integer', jsonPath: '.status.completed' },
    ageColumn,
  ],
  fields: {
    spec: s.present(imageListPullJobSpec, 'The images to pull, the nodes, and the policy.'),
    status: s.optional(imageListPullJobStatus, 'Progress of the job.'),
  },
} as const;

export const imageListPullJob = kind('io.kruise.apps.v1beta1.ImageListPullJob', doc, { ...facts, version: 'v1beta1' });
export type ImageListPullJob = s.TypeOf<typeof imageListPullJob>;

export const imageListPullJobV1alpha1 = kind('io.kruise.apps.v1alpha1.ImageListPullJob', doc, {
  ...facts,
  version: 'v1alpha1',
});
