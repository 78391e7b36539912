import { serviceAccountGroups, serviceAccountUsername } from '../service-account-user.ts';
import type { User } from '../user.ts';

/** Object that a token refers to. The name may be reused by a later object; the uid may not. */
export type ObjectIdentity = { readonly name: string; readonly uid?: string };

/** Kubernetes-specific claims of a service account token. */
export type KubernetesClaims = {
  readonly namespace: string;
  readonly node?: ObjectIdentity;
  readonly pod?: ObjectIdentity;
  readonly secret?: ObjectIdentity;
  readonly serviceaccount: ObjectIdentity;
  /** Time in seconds after which the holder should have refreshed the token. */
  readonly warnafter?: number;
};

/** Claims of a service account token. Times are in seconds. */
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

/** Returns the user of a token, with the bound objects in the extra fields. */
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
