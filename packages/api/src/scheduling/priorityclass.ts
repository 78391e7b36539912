import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const priorityClass = kind('io.k8s.api.scheduling.v1.PriorityClass', '', {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  scope: 'Cluster',
  shortNames: ['pc'],
  fields: {
    value: s.required(2, s.int32(), ''),
    globalDefault: s.optional(3, s.boolean(), ''),
    description: s.optional(4, s.string(), ''),
    preemptionPolicy: s.pointer(5, s.oneOf('v1.PreemptionPolicy', ['PreemptLowerPriority', 'Never']), ''),
  },
});
export type PriorityClass = s.TypeOf<typeof priorityClass>;
