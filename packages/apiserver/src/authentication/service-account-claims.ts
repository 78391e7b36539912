import { serviceAccountGroups, serviceAccountUsername } from '../service-account-user.ts';
import type { User } from '../user.ts';

/** An object a token names: the name may be taken by another in time, the uid may not. */
export type ObjectIdentity = { readonly name: string; readonly uid?: string };

/** What a token of an account says besides what any token says. */
export type KubernetesClaims = {
  readonly namespace: string;
  readonly node?: ObjectIdentity;
  readonly pod?: ObjectIdentity;
  readonly secret?: ObjectIdentity;
  readonly serviceaccount: ObjectIdentity;
  /** When its holder should have come for a new one, in seconds. */
  readonly warnafter?: number;
};

/** A token of an account. Times are in seconds. */
export type ServiceAccountClaims = {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly iss: string;
  readonly jti: string;
  readonly 'kubernetes.io': KubernetesClaims;
  readonly nbf: number;
  readonly sub: string;
};

const extraPrefix = 'authentication.kubernetes.io/';

/** The user a token is of, and what it says of the circumstances. */
export function userOfClaims({ jti, 'kubernetes.io': claims }: ServiceAccountClaims): User {
  const { namespace, serviceaccount, pod, node } = claims;
  const extra: { [key: string]: readonly string[] } = {};
  const note = (key: string, value: string | undefined) => {
    if (value) extra[`${extraPrefix}${key}`] = [value];
  };
  note('credential-id', jti && `JTI=${jti}`);
  note('node-name', node?.name);
  note('node-uid', node?.uid);
  note('pod-name', pod?.name);
  note('pod-uid', pod?.uid);
  return {
    username: serviceAccountUsername(namespace, serviceaccount.name),
    ...(serviceaccount.uid === undefined ? {} : { uid: serviceaccount.uid }),
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}
