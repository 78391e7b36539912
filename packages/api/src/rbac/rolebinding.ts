import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { roleRef, subject } from './subject.ts';

export const roleBinding = kind('io.k8s.api.rbac.v1.RoleBinding', 'Gives a role to somebody, in one namespace.', {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  fields: {
    subjects: s.optional(2, s.atomicList(subject), 'To whom it is given.'),
    roleRef: s.required(3, roleRef, 'Which Role of the namespace, or which ClusterRole. Cannot be changed.'),
  },
});
export type RoleBinding = s.TypeOf<typeof roleBinding>;
