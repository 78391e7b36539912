import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { ageColumn } from './columns.ts';
import { imagePullJobTemplate } from './image-pull.ts';

const doc = 'ImagePullJob pulls an image on many nodes before Pods need it.';

export const imagePullJobSpec = s.object({
  image: s.required(s.string(), 'The image to fetch, with tag or digest.'),
  ...imagePullJobTemplate,
});
export type ImagePullJobSpec = s.TypeOf<typeof imagePullJobSpec>;

export const imagePullJobStatus = s.object({
  startTime: s.pointer(s.dateTime(), 'Time at which the controller first observed the job.'),
  completionTime: s.pointer(s.dateTime(), 'Time at which the job completed or failed.'),
  desired: s.required(s.int32(), 'Nodes to fetch the image to.'),
  active: s.present(s.int32(), 'Number of nodes that are pulling the image.'),
  succeeded: s.present(s.int32(), 'Nodes that have the image now.'),
  failed: s.present(s.int32(), 'Nodes that gave up.'),
  message: s.optional(s.string(), 'Summary of the progress.'),
  failedNodes: s.optional(s.list(s.string()), 'Names of the nodes that gave up.'),
});
export type ImagePullJobStatus = s.TypeOf<typeof imagePullJobStatus>;

const columns = [
  { name: 'TOTAL', type: 'integer', jsonPath: '.status.desired' },
  { name: 'ACTIVE', type: 'integer', jsonPath: '.status.active' },
  { name: 'SUCCEED', type: 'integer', jsonPath: '.status.succeeded' },
  { name: 'FAILED', type: 'integer', jsonPath: '.status.failed' },
  ageColumn,
] as const;

const facts = {
  group: 'apps.kruise.io',
  kind: 'ImagePullJob',
  plural: 'imagepulljobs',
  scope: 'Namespaced',
  subresources: ['status'],
  fields: {
    spec: s.present(imagePullJobSpec, 'The images to pull, the nodes, and the policy.'),
    status: s.optional(imagePullJobStatus, 'Progress of the job.'),
  },
} as const;

export const imagePullJob = kind('io.kruise.apps.v1beta1.ImagePullJob', doc, { ...facts, version: 'v1beta1', columns });
export type ImagePullJob = s.TypeOf<typeof imagePullJob>;

export const imagePullJobV1alpha1 = kind('io.kruise.apps.v1alpha1.ImagePullJob', doc, {
  ...facts,
  version: 'v1alpha1',
  columns: [...columns, { name: 'MESSAGE', type: 'string', jsonPath: '.status.message' }],
});
