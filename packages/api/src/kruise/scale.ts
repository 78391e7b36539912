import type { ScalePaths } from '@kruise/schema/kind';

/** JSON paths of the scale subresource of workloads. */
export const scalePaths: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.labelSelector',
};
