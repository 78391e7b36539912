import type { KeyObject } from 'node:crypto';
import { uuid } from '@kruise/machinery/uuid';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { KubeObject } from '../object.ts';
import { serviceAccountUsername } from '../service-account-user.ts';
import { signJwt } from './jwt.ts';
import type { KubernetesClaims, ObjectIdentity, ServiceAccountClaims } from './service-account-claims.ts';

/** Object that a token is bound to; the token is valid while the object exists. */
export type Bound = {
  readonly pod?: KubeObject;
  readonly secret?: KubeObject;
  /** Node of the Pod, or the bound node itself. A missing node still has a name. */
  readonly node?: ObjectIdentity;
};

export type TokenOrder = {
  readonly account: KubeObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** Time after which the holder should have refreshed the token. */
  readonly warnAfterSeconds?: number;
  readonly bound: Bound;
};

/** Issues service account tokens. */
export interface TokenIssuer {
  issue(order: TokenOrder): Promise<string>;
}

export function createTokenIssuer(
  clock: Clock,
  random: Random,
  { issuer, key }: { readonly issuer: string; readonly key: () => Promise<KeyObject> },
): TokenIssuer {
  return {
    async issue({ account, audiences, expirationSeconds, warnAfterSeconds, bound }) {
      const now = Math.floor(clock.now() / 1000);
      const { namespace = '', name = '' } = account.metadata;
      const kubernetes: KubernetesClaims = {
        namespace,
        ...(bound.node ? { node: bound.node } : {}),
        ...(bound.pod ? { pod: identityOf(bound.pod) } : {}),
        ...(bound.secret ? { secret: identityOf(bound.secret) } : {}),
        serviceaccount: identityOf(account),
        ...(warnAfterSeconds === undefined ? {} : { warnafter: now + warnAfterSeconds }),
      };
      const claims: ServiceAccountClaims = {
        aud: audiences,
        exp: now + expirationSeconds,
        iat: now,
        iss: issuer,
        jti: uuid(random),
        'kubernetes.io': kubernetes,
        nbf: now,
        sub: serviceAccountUsername(namespace, name),
      };
      return signJwt(claims, await key());
    },
  };
}

/** Returns the name and uid of an object. */
export function identityOf({ metadata }: KubeObject): ObjectIdentity {
  const { name = '', uid } = metadata;
  return { name, ...(uid === undefined ? {} : { uid }) };
}
