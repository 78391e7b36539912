import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const priorityClass = kind(
  'io.k8s.api.scheduling.v1.PriorityClass',
  'PriorityClass defines a priority of Pods.',
  {
    group: 'scheduling.k8s.io',
    version: 'v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    scope: 'Cluster',
    shortNames: ['pc'],
    fields: {
      value: s.required(
        2,
        s.int32(),
        'Priority; higher values are more important. At most 1000000000 except in classes of the system. Immutable.',
      ),
      globalDefault: s.optional(
        3,
        s.boolean(),
        'Default class of Pods without one. If several are default, the lowest value is used. Default false.',
      ),
      description: s.optional(4, s.string(), 'Description of the purpose of the class.'),
      preemptionPolicy: s.pointer(
        5,
        s.oneOf('v1.PreemptionPolicy', ['PreemptLowerPriority', 'Never']),
        'PreemptLowerPriority (the default) may evict less important Pods to make room; Never waits. Cannot be changed.',
      ),
    },
  },
);
export type PriorityClass = s.TypeOf<typeof priorityClass>;
