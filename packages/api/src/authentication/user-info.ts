import * as s from '@kruise/schema';

export const userInfo = s.object('io.k8s.api.authentication.v1.UserInfo', 'User information.', {
  username: s.optional(1, s.string(), 'Name of the user.'),
  uid: s.optional(2, s.string(), 'An ID that distinguishes the user from later ones of the same name.'),
  groups: s.optional(3, s.atomicList(s.string()), 'Groups the user is in.'),
  extra: s.optional(
    4,
    s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })),
    'Additional information from the authenticator, by key.',
  ),
});
export type UserInfo = s.TypeOf<typeof userInfo>;
