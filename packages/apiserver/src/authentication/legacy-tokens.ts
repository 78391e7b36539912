import { timingSafeEqual } from 'node:crypto';
import type { KubeObject } from '../object.ts';
import { find } from '../objects/stored-objects.ts';
import { serviceAccountGroups, serviceAccountUsername } from '../service-account-user.ts';
import { type Claims, decodeJwt, isSignedBy, type VerificationKeys } from './jwt.ts';
import type { TokenObjects } from './service-account-tokens.ts';
import { InvalidToken, type TokenAuthenticator } from './token.ts';

/** Issuer of tokens stored in Secrets. */
export const legacyIssuer = 'kubernetes/serviceaccount';
const claim = (name: string) => `kubernetes.io/serviceaccount/${name}`;
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';

/** Returns the claims of a service account token that is stored in a Secret. */
export function legacyClaims(account: Pick<KubeObject, 'metadata'>, secret: Pick<KubeObject, 'metadata'>): Claims {
  const { namespace = '', name = '', uid = '' } = account.metadata;
  return {
    iss: legacyIssuer,
    [claim('namespace')]: namespace,
    [claim('secret.name')]: secret.metadata.name ?? '',
    [claim('service-account.name')]: name,
    [claim('service-account.uid')]: uid,
    sub: serviceAccountUsername(namespace, name),
  };
}

export type LegacyTokenOptions = {
  readonly keys: VerificationKeys;
  readonly audiences: readonly string[];
  /** Called with the Secret whose token is used. */
  readonly onUse: (secret: KubeObject) => void;
};

/**
 * Authenticates legacy tokens, which are stored in Secrets. They do not expire, but are valid only while the Secret
 * contains them.
 */
export function legacyTokens(
  objects: TokenObjects,
  { keys, audiences: implicit, onUse }: LegacyTokenOptions,
): TokenAuthenticator {
  return {
    async authenticate(token, wanted) {
      const decoded = decodeJwt(token);
      if (decoded?.claims.iss !== legacyIssuer) return undefined;
      if (!isSignedBy(decoded, await keys())) throw new InvalidToken('invalid signature');
      const audiences = implicit.filter((audience) => wanted.includes(audience));
      if (audiences.length === 0) throw new InvalidToken('token is for the API server alone');

      const { namespace, account, uid, secretName } = namesIn(decoded.claims);
      const secret = find(objects.secrets, namespace, secretName);
      if (!secret || !containsToken(secret, token))
        throw new InvalidToken('service account token has been invalidated');
      const serviceAccount = find(objects.serviceAccounts, namespace, account);
      if (!serviceAccount) throw new InvalidToken(`serviceaccounts ${JSON.stringify(account)} not found`);
      if (serviceAccount.metadata.uid !== uid) {
        throw new InvalidToken(`service account UID (${serviceAccount.metadata.uid}) does not match claim (${uid})`);
      }
      if (secret.metadata.labels?.[invalidSince] !== undefined) {
        throw new InvalidToken(
          `the token in secret ${namespace}/${secretName} for service account ${namespace}/${account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSince}' label from the secret to temporarily allow use of this token`,
        );
      }
      onUse(secret);
      const username = serviceAccountUsername(namespace, account);
      return { user: { username, uid, groups: serviceAccountGroups(namespace) }, audiences };
    },
  };
}

function namesIn(claims: Claims) {
  const text = (name: string) => {
    const value = claims[claim(name)];
    if (typeof value !== 'string' || value === '') throw new InvalidToken(`${name} claim is missing`);
    return value;
  };
  const [namespace, account] = [text('namespace'), text('service-account.name')];
  if (claims.sub !== serviceAccountUsername(namespace, account)) throw new InvalidToken('sub claim is invalid');
  return { namespace, account, uid: text('service-account.uid'), secretName: text('secret.name') };
}

function containsToken(secret: KubeObject, token: string): boolean {
  if (secret.type !== 'kubernetes.io/service-account-token' || secret.metadata.deletionTimestamp) return false;
  const { token: kept = '' } = (secret.data ?? {}) as { readonly token?: string };
  const [expected, given] = [Buffer.from(kept, 'base64'), Buffer.from(token)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}
