/** Bootstrap token Secrets, which new nodes use to join the cluster. */
import type { Secret } from '@kruise/api/core/secret';
import { type Instant, parseTime } from '@kruise/values/time';

const namespace = 'kube-system';
const type = 'bootstrap.kubernetes.io/token';

/** Reports whether a Secret is a bootstrap token. */
export function isBootstrapToken(secret: Secret): boolean {
  return secret.type === type && secret.metadata.namespace === namespace;
}

/** Indexes Secrets by their type, so that bootstrap tokens can be looked up. */
export function byBootstrapToken(secret: Secret): readonly string[] {
  return isBootstrapToken(secret) ? [type] : [];
}

/** Index value of bootstrap token Secrets. */
export const bootstrapTokens = type;

/** Returns a field of a token Secret as text. */
export function tokenField({ data }: Secret, name: string): string {
  return Buffer.from(data?.[name] ?? '', 'base64').toString();
}

/**
 * Returns the expiration time of a token; undefined if the token never expires. A time that does not parse counts as
 * expired.
 */
export function tokenExpiry(secret: Secret): Instant | undefined {
  const text = tokenField(secret, 'expiration');
  if (text === '') return undefined;
  try {
    return parseTime(text);
  } catch {
    // Keeping a token that was meant to expire would be the worse mistake.
    return Number.NEGATIVE_INFINITY;
  }
}
