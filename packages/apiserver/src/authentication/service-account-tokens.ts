import type { Clock } from '@kruise/values/clock';
import { quoted } from '../authorization/rule.ts';
import type { KubeObject } from '../object.ts';
import { find, type StoredObjects } from '../objects/stored-objects.ts';
import { decodeJwt, isSignedBy, type VerificationKeys } from './jwt.ts';
import { type ObjectIdentity, type ServiceAccountClaims, userOfClaims } from './service-account-claims.ts';
import { InvalidToken, type TokenAuthenticator } from './token.ts';

/** Objects that tokens refer to: a token is valid only while they exist. */
export type TokenObjects = {
  readonly serviceAccounts: StoredObjects;
  readonly pods: StoredObjects;
  readonly secrets: StoredObjects;
  readonly nodes: StoredObjects;
};

export type ServiceAccountTokenOptions = {
  readonly issuers: readonly string[];
  readonly keys: VerificationKeys;
  /** Audiences of tokens that name none. */
  readonly audiences: readonly string[];
};

/** Tolerated clock skew. */
const leewaySeconds = 60;
/**
 * Size of the signature cache: verifying a signature takes fifty times as long as all other checks, and the result
 * never changes.
 */
const maxMemoizedTokens = 4096;

/** Authenticates service account tokens that this server issued. */
export function serviceAccountTokens(
  objects: TokenObjects,
  clock: Clock,
  { issuers, keys, audiences: implicit }: ServiceAccountTokenOptions,
): TokenAuthenticator {
  const verified = new Map<string, ServiceAccountClaims>();

  async function claimsOf(token: string): Promise<ServiceAccountClaims | undefined> {
    const known = verified.get(token);
    if (known) return known;
    const decoded = decodeJwt(token);
    if (!decoded || !issuers.includes(String(decoded.claims.iss))) return undefined;
    if (!isSignedBy(decoded, await keys())) throw new InvalidToken('invalid signature');
    // Only the server has the key, so claims with a valid signature have the expected form.
    const claims = decoded.claims as unknown as ServiceAccountClaims;
    if (verified.size >= maxMemoizedTokens) verified.clear();
    verified.set(token, claims);
    return claims;
  }

  return {
    async authenticate(token, wanted) {
      const claims = await claimsOf(token);
      if (!claims) return undefined;
      const audiencesOfToken = claims.aud?.length > 0 ? claims.aud : implicit;
      const audiences = audiencesOfToken.filter((audience) => wanted.includes(audience));
      if (audiences.length === 0) {
        throw new InvalidToken(
          `token audiences ${quoted(audiencesOfToken)} is invalid for the target audiences ${quoted(wanted)}`,
        );
      }
      checkTimes(claims, clock.now() / 1000);
      checkObjects(objects, claims, clock.now());
      return { user: userOfClaims(claims), audiences };
    },
  };
}

function checkTimes({ exp, nbf, iat }: ServiceAccountClaims, nowSeconds: number): void {
  if (nbf !== undefined && nowSeconds + leewaySeconds < nbf) {
    throw new InvalidToken('service account token is not valid yet');
  }
  if (exp !== undefined && nowSeconds - leewaySeconds > exp)
    throw new InvalidToken('service account token has expired');
  if (iat !== undefined && nowSeconds + leewaySeconds < iat) {
    throw new InvalidToken('service account token is issued in the future');
  }
}

function checkObjects(objects: TokenObjects, { 'kubernetes.io': claims }: ServiceAccountClaims, nowMs: number): void {
  const { namespace, serviceaccount, secret, pod, node } = claims;
  const account = find(objects.serviceAccounts, namespace, serviceaccount.name);
  if (!account) throw new InvalidToken(`serviceaccounts ${JSON.stringify(serviceaccount.name)} not found`);
  if (account.metadata.uid !== serviceaccount.uid) {
    throw new InvalidToken(
      `service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})`,
    );
  }
  if (isDeletedBeyondLeeway(account, nowMs)) {
    throw new InvalidToken(`service account ${namespace}/${serviceaccount.name} has been deleted`);
  }
  if (secret) checkBound(find(objects.secrets, namespace, secret.name), secret, 'secret', nowMs);
  if (pod) checkBound(find(objects.pods, namespace, pod.name), pod, 'pod', nowMs);
  // The node of a Pod-bound token is informational.
  else if (node) checkBound(find(objects.nodes, '', node.name), node, 'node', nowMs);
}

function checkBound(object: KubeObject | undefined, claimed: ObjectIdentity, kind: string, nowMs: number): void {
  if (object && object.metadata.uid !== claimed.uid) {
    throw new InvalidToken(
      `${kind} UID (${object.metadata.uid}) does not match service account ${kind} ref claim (${claimed.uid})`,
    );
  }
  if (!object || isDeletedBeyondLeeway(object, nowMs))
    throw new InvalidToken('service account token has been invalidated');
}

function isDeletedBeyondLeeway({ metadata }: KubeObject, nowMs: number): boolean {
  if (!metadata.deletionTimestamp) return false;
  return Date.parse(metadata.deletionTimestamp) < nowMs - leewaySeconds * 1000;
}
