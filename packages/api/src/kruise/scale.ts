import type { ScalePaths } from '@kruise/schema/kind';

/** Where the workloads that can be scaled keep their numbers. */
export const scalePaths: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.labelSelector',
};
