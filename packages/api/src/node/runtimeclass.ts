import * as s from '@kruise/schema';
import { toleration } from '../core/toleration.ts';
import { kind } from '../meta/kind.ts';

export const overhead = s.object(
  'io.k8s.api.node.v1.Overhead',
  'Overhead of running a Pod in addition to its containers.',
  {
    podFixed: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'Overhead of each Pod, by resource.'),
  },
);
export type Overhead = s.TypeOf<typeof overhead>;

export const scheduling = s.object('io.k8s.api.node.v1.Scheduling', 'The nodes that can run a class.', {
  nodeSelector: s.optional(
    1,
    s.map(s.string(), { mapType: 'atomic' }),
    'Labels of those nodes. Added to the node selector of Pods; a contradiction refuses the Pod.',
  ),
  tolerations: s.optional(2, s.atomicList(toleration), 'Added to the tolerations of Pods.'),
});
export type Scheduling = s.TypeOf<typeof scheduling>;

export const runtimeClass = kind('io.k8s.api.node.v1.RuntimeClass', 'A way to run Pods, such as in virtual machines.', {
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  fields: {
    handler: s.required(
      2,
      s.string(),
      'Name of the handler, as the container runtimes of the nodes are set up; a DNS label. Cannot be changed.',
    ),
    overhead: s.pointer(3, overhead, 'Overhead of running a Pod of the class.'),
    scheduling: s.pointer(4, scheduling, 'Nodes that support the class. Unset: all.'),
  },
});
export type RuntimeClass = s.TypeOf<typeof runtimeClass>;
