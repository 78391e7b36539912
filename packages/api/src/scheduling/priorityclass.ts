import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const priorityClass = kind('io.k8s.api.scheduling.v1.PriorityClass', 'Says how important Pods are.', {
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
      'How important; the greater, the more. Up to 1000000000 but for classes of the system. Cannot be changed.',
    ),
    globalDefault: s.optional(
      3,
      s.boolean(),
      'Whether it is for Pods that name no class. Of several, the least value holds. Default false.',
    ),
    description: s.optional(4, s.string(), 'When to use it, for people.'),
    preemptionPolicy: s.pointer(
      5,
      s.oneOf('v1.PreemptionPolicy', ['PreemptLowerPriority', 'Never']),
      'PreemptLowerPriority (the default) may evict less important Pods to make room; Never waits. Cannot be changed.',
    ),
  },
});
export type PriorityClass = s.TypeOf<typeof priorityClass>;
