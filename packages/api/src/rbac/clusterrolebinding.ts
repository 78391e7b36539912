import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { roleRef, subject } from './subject.ts';

export const clusterRoleBinding = kind(
  'io.k8s.api.rbac.v1.ClusterRoleBinding',
  'Grants a ClusterRole to subjects in the whole cluster.',
  {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    scope: 'Cluster',
    fields: {
      subjects: s.optional(2, s.atomicList(subject), 'Subjects that get the role.'),
      roleRef: s.required(3, roleRef, 'Reference to a ClusterRole. Immutable.'),
    },
  },
);
export type ClusterRoleBinding = s.TypeOf<typeof clusterRoleBinding>;
