import * as s from '@kruise/schema';

/** A reference to a workload in the same namespace. */
export const targetReference = s.object({
  apiVersion: s.required(s.string(), 'Group and version of the workload, such as apps.kruise.io/v1beta1.'),
  kind: s.required(s.string(), 'Kind of the workload, such as CloneSet.'),
  name: s.required(s.string(), 'Name of the workload.'),
});
export type TargetReference = s.TypeOf<typeof targetReference>;
