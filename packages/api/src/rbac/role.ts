import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { policyRule } from './rule.ts';

export const role = kind('io.k8s.api.rbac.v1.Role', 'Rules for one namespace.', {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
  fields: {
    rules: s.optional(2, s.atomicList(policyRule), 'Rules: the permitted actions.', { omitEmpty: false }),
  },
});
export type Role = s.TypeOf<typeof role>;
