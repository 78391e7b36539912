import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { roleRef, subject } from './subject.ts';

export const roleBinding = kind('io.k8s.api.rbac.v1.RoleBinding', 'Grants a role to subjects in one namespace.', {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  fields: {
    subjects: s.optional(2, s.atomicList(subject), 'Subjects that get the role.'),
    roleRef: s.required(3, roleRef, 'Reference to a Role of the namespace or a ClusterRole. Immutable.'),
  },
});
export type RoleBinding = s.TypeOf<typeof roleBinding>;
