import * as s from '@kruise/schema';


export const userInfo = s.object('io.k8s.api.authentication.v1.UserInfo', '', {
  username: s.optional(1, s.string(), ''),
  uid: s.optional(2, s.string(), ''),
  groups: s.optional(3, s.atomicList(s.string()), ''),
  extra: s.optional(4, s.map(s.list(s.string(), { goType: 'v1.ExtraValue' })), ''),
});
export type UserInfo = s.TypeOf<typeof userInfo>;
