import * as s from '@kruise/schema';

/** The way to update a Pod to a new revision. */
export const podUpdatePolicy = s.oneOf(['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly']);
export type PodUpdatePolicy = s.TypeOf<typeof podUpdatePolicy>;

/** Settings of in-place updates. */
export const inPlaceUpdateStrategy = s.object({
  gracePeriodSeconds: s.optional(
    s.int32(),
    'Seconds between marking a Pod not ready and changing its containers, so that traffic can drain. Default 0.',
  ),
  imagePreDownloadParallelism: s.pointer(
    s.intOrString(),
    'Maximum number of nodes that pre-download the new image concurrently; a number, not a percentage. Default 1.',
  ),
  imagePreDownloadTimeoutSeconds: s.pointer(
    s.int32(),
    'Timeout of one attempt to pre-download an image in seconds. Default 300.',
  ),
  imagePreDownloadMinUpdatedReadyPods: s.pointer(
    s.int32(),
    'Fetching ahead begins once this many updated Pods are ready, so that a bad image is not spread. Default 0.',
  ),
});
export type InPlaceUpdateStrategy = s.TypeOf<typeof inPlaceUpdateStrategy>;
