import type { ClusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { defaultBinding } from '@kruise/api/rbac/rbac.default';
import {
  validateClusterRole,
  validateClusterRoleBinding,
  validateClusterRoleBindingUpdate,
  validateClusterRoleUpdate,
  validateRole,
  validateRoleBinding,
  validateRoleBindingUpdate,
  validateRoleUpdate,
} from '@kruise/api/rbac/rbac.validate';
import type { RoleBinding } from '@kruise/api/rbac/rolebinding';
import { type RulesByResource, rulesFor } from './rules.ts';

export const rbacRules: RulesByResource = {
  'roles.rbac.authorization.k8s.io': rulesFor({
    validatesWholeOnUpdate: true,
    createOnUpdate: true,
    validate: validateRole,
    validateUpdate: validateRoleUpdate,
  }),
  'clusterroles.rbac.authorization.k8s.io': rulesFor({
    validatesWholeOnUpdate: true,
    createOnUpdate: true,
    validate: validateClusterRole,
    validateUpdate: validateClusterRoleUpdate,
  }),
  'rolebindings.rbac.authorization.k8s.io': rulesFor<RoleBinding>({
    validatesWholeOnUpdate: true,
    createOnUpdate: true,
    default: defaultBinding,
    validate: validateRoleBinding,
    validateUpdate: validateRoleBindingUpdate,
  }),
  'clusterrolebindings.rbac.authorization.k8s.io': rulesFor<ClusterRoleBinding>({
    validatesWholeOnUpdate: true,
    createOnUpdate: true,
    default: defaultBinding,
    validate: validateClusterRoleBinding,
    validateUpdate: validateClusterRoleBindingUpdate,
  }),
};
