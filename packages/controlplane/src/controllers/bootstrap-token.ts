/** The Secrets that keep the tokens by which new nodes introduce themselves. */
import type { Secret } from '@kruise/api/core/secret';
import { type Instant, parseTime } from '@kruise/values/time';

const namespace = 'kube-system';
const type = 'bootstrap.kubernetes.io/token';

/** Whether a Secret keeps such a token. */
export function isBootstrapToken(secret: Secret): boolean {
  return secret.type === type && secret.metadata.namespace === namespace;
}

/** By the one thing that tells token Secrets from others. */
export function byBootstrapToken(secret: Secret): readonly string[] {
  return isBootstrapToken(secret) ? [type] : [];
}

/** The value to look token Secrets up by. */
export const bootstrapTokens = type;

/** A field of a token Secret, as text. */
export function tokenField({ data }: Secret, name: string): string {
  return Buffer.from(data?.[name] ?? '', 'base64').toString();
}

/** When a token is no longer good; undefined if it always is. A time that cannot be read has passed. */
export function tokenExpiry(secret: Secret): Instant | undefined {
  const text = tokenField(secret, 'expiration');
  if (text === '') return undefined;
  try {
    return parseTime(text);
  } catch {
    // To keep what was meant to go would be the worse mistake.
    return Number.NEGATIVE_INFINITY;
  }
}
