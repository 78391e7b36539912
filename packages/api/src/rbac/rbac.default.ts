import type { Draft } from '@kruise/schema/draft';
import type { ClusterRoleBinding } from './clusterrolebinding.ts';
import type { RoleBinding } from './rolebinding.ts';

const apiGroup = 'rbac.authorization.k8s.io';

/** Defaults the API groups of roles, users and groups. */
export function defaultBinding(draft: Draft<RoleBinding> | Draft<ClusterRoleBinding>): void {
  draft.roleRef ??= { apiGroup: '', kind: '', name: '' };
  draft.roleRef.apiGroup ||= apiGroup;
  for (const subject of draft.subjects ?? []) {
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= apiGroup;
  }
}
