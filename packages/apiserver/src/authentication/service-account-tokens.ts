import type { Clock } from '@kruise/values/clock';
import { quoted } from '../authorization/rule.ts';
import type { KubeObject } from '../object.ts';
import { find, type StoredObjects } from '../storage/stored-objects.ts';
import { decodeJwt, isSignedBy, type VerificationKeys } from './jwt.ts';
import { type ObjectIdentity, type ServiceAccountClaims, userOfClaims } from './service-account-claims.ts';
import { InvalidToken, type TokenAuthenticator } from './token.ts';

/** The objects tokens speak of: a token is good only for as long as they exist. */
export type TokenObjects = {
  readonly serviceAccounts: StoredObjects;
  readonly pods: StoredObjects;
  readonly secrets: StoredObjects;
  readonly nodes: StoredObjects;
};

export type ServiceAccountTokenOptions = {
  readonly issuers: readonly string[];
  readonly keys: VerificationKeys;
  /** Who a token is meant for that does not say. */
  readonly audiences: readonly string[];
};

/** Clocks differ; by this much it does not matter. */
const leewaySeconds = 60;
/** To check a signature takes fifty times as long as all the rest, and its outcome never changes. */
const rememberedTokens = 4096;

/** Knows the tokens the server has made for accounts. */
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
    // Only the server has the key, so what it signed has the form the server gave it.
    const claims = decoded.claims as unknown as ServiceAccountClaims;
    if (verified.size >= rememberedTokens) verified.clear();
    verified.set(token, claims);
    return claims;
  }

  return {
    async authenticate(token, wanted) {
      const claims = await claimsOf(token);
      if (!claims) return undefined;
      const meantFor = claims.aud?.length > 0 ? claims.aud : implicit;
      const audiences = meantFor.filter((audience) => wanted.includes(audience));
      if (audiences.length === 0) {
        throw new InvalidToken(
          `token audiences ${quoted(meantFor)} is invalid for the target audiences ${quoted(wanted)}`,
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
  if (isLongGone(account, nowMs)) {
    throw new InvalidToken(`service account ${namespace}/${serviceaccount.name} has been deleted`);
  }
  if (secret) checkBound(find(objects.secrets, namespace, secret.name), secret, 'secret', nowMs);
  if (pod) checkBound(find(objects.pods, namespace, pod.name), pod, 'pod', nowMs);
  // A token of a Pod names the node for information.
  else if (node) checkBound(find(objects.nodes, '', node.name), node, 'node', nowMs);
}

function checkBound(object: KubeObject | undefined, claimed: ObjectIdentity, kind: string, nowMs: number): void {
  if (object && object.metadata.uid !== claimed.uid) {
    throw new InvalidToken(
      `${kind} UID (${object.metadata.uid}) does not match service account ${kind} ref claim (${claimed.uid})`,
    );
  }
  if (!object || isLongGone(object, nowMs)) throw new InvalidToken('service account token has been invalidated');
}

function isLongGone({ metadata }: KubeObject, nowMs: number): boolean {
  if (!metadata.deletionTimestamp) return false;
  return Date.parse(metadata.deletionTimestamp) < nowMs - leewaySeconds * 1000;
}
