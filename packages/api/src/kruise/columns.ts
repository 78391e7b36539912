import type { Column } from '@kruise/schema/kind';

/** The time since an object was created, as most kinds head it. */
export const ageColumn: Column = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** What the Pods of a workload are made of; shown by `kubectl get -o wide`. */
export const containerColumns: readonly Column[] = [
  { name: 'CONTAINERS', type: 'string', jsonPath: '.spec.template.spec.containers[*].name', priority: 1 },
  { name: 'IMAGES', type: 'string', jsonPath: '.spec.template.spec.containers[*].image', priority: 1 },
];
