import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { toleration } from '../core/toleration.ts';

export const overhead = s.object('io.k8s.api.node.v1.Overhead', '', {
  podFixed: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
});
export type Overhead = s.TypeOf<typeof overhead>;

export const scheduling = s.object('io.k8s.api.node.v1.Scheduling', '', {
  nodeSelector: s.optional(1, s.map(s.string(), { mapType: 'atomic' }), ''),
  tolerations: s.optional(2, s.atomicList(toleration), ''),
});
export type Scheduling = s.TypeOf<typeof scheduling>;

export const runtimeClass = kind('io.k8s.api.node.v1.RuntimeClass', '', {
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  fields: {
    handler: s.required(2, s.string(), ''),
    overhead: s.pointer(3, overhead, ''),
    scheduling: s.pointer(4, scheduling, ''),
  },
});
export type RuntimeClass = s.TypeOf<typeof runtimeClass>;
