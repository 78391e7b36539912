import * as s from '@kruise/schema';

export const subject = s.object(
  'io.k8s.api.rbac.v1.Subject',
  'A subject of a binding.',
  {
    kind: s.required(1, s.string(), 'User, Group or ServiceAccount.'),
    apiGroup: s.optional(
      2,
      s.string(),
      'rbac.authorization.k8s.io for users and groups, empty for accounts. Filled in if left out.',
    ),
    name: s.required(3, s.string(), 'Name of the user, group or account.'),
    namespace: s.optional(4, s.string(), 'Namespace of the account. Not for users and groups.'),
  },
  { mapType: 'atomic' },
);
export type Subject = s.TypeOf<typeof subject>;

export const roleRef = s.object(
  'io.k8s.api.rbac.v1.RoleRef',
  'The role that is given. Cannot be changed.',
  {
    apiGroup: s.required(1, s.string(), 'rbac.authorization.k8s.io, the only one.'),
    kind: s.required(2, s.string(), 'Role or ClusterRole.'),
    name: s.required(3, s.string(), 'Name of the role.'),
  },
  { mapType: 'atomic' },
);
export type RoleRef = s.TypeOf<typeof roleRef>;
