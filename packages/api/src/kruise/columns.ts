import type { Column } from '@kruise/schema/kind';

/** The age column of most kinds. */
export const ageColumn: Column = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Columns with the containers, images and selector of a workload, shown by `kubectl get -o wide`. */
export const containerColumns: readonly Column[] = [
  { name: 'CONTAINERS', type: 'string', jsonPath: '.spec.template.spec.containers[*].name', priority: 1 },
  { name: 'IMAGES', type: 'string', jsonPath: '.spec.template.spec.containers[*].image', priority: 1 },
];
