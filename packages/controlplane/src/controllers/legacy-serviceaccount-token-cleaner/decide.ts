import type { Secret } from '@kruise/api/core/secret';
import type { ServiceAccount } from '@kruise/api/core/serviceaccount';
import { isBeingDeleted, patch, remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { type Instant, parseTime } from '@kruise/values/time';
import { accountUidOf } from '../serviceaccount-token/decide.ts';

export type Observed = {
  readonly secret: Secret;
  /** The account the Secret names, whatever its uid. */
  readonly account: ServiceAccount | undefined;
  readonly isMounted: boolean;
  /** The day since when the API server notes which tokens are used, if it does. */
  readonly trackedSince: string | undefined;
};

const lastUsedKey = 'kubernetes.io/legacy-token-last-used';
const invalidSinceKey = 'kubernetes.io/legacy-token-invalid-since';
const daySeconds = 24 * 60 * 60;
const dayMs = daySeconds * 1000;
/** How long a token that nobody uses is kept, and then as long again marked as invalid. */
const unusedMs = 365 * dayMs;

/**
 * A token that was made for an account of its own accord, as clusters before v1.24 did, and that nobody has used for a
 * year, is marked as invalid; where nobody minds for another year it is deleted.
 */
export function decide(observed: Observed, now: Instant): Decision<undefined> {
  const { secret } = observed;
  if (!isMadeByItself(observed) || isBeingDeleted(secret)) return { actions: [] };
  // Uses are noted by the day, so there is nothing to be seen before the next.
  const tomorrow = { requeueAfterSeconds: daySeconds };
  if (isNeeded(observed, now)) return { actions: [], ...tomorrow };
  const { labels, resourceVersion } = secret.metadata;
  const invalidSince = labels?.[invalidSinceKey] ?? '';
  if (dayOf(invalidSince) === undefined) {
    return { actions: [patch(secret, { metadata: { labels: { [invalidSinceKey]: dateOf(now) } } })], ...tomorrow };
  }
  if (invalidSince >= dateOf(now - unusedMs)) return { actions: [], ...tomorrow };
  // Whoever takes the label away, or uses the token, at this very moment keeps it.
  const preconditions = { resourceVersion: resourceVersion ?? '' };
  return { actions: [{ ...remove(secret), options: { preconditions } }] };
}

/** Tokens that were made by hand are not referred to by their account. */
function isMadeByItself({ secret, account }: Observed): boolean {
  const uid = accountUidOf(secret);
  if (!account || (uid !== undefined && uid !== account.metadata.uid)) return false;
  return account.secrets?.some(({ name }) => name === secret.metadata.name) ?? false;
}

function isNeeded({ secret, isMounted, trackedSince = '' }: Observed, now: Instant): boolean {
  const tracked = dayOf(trackedSince);
  // On the first day some servers may not have noted anything yet.
  if (isMounted || tracked === undefined || now < tracked + dayMs + unusedMs) return true;
  const { labels, creationTimestamp } = secret.metadata;
  if (!creationTimestamp || parseTime(creationTimestamp) >= now - unusedMs) return true;
  const lastUsed = labels?.[lastUsedKey];
  if (lastUsed === undefined) return false;
  return dayOf(lastUsed) === undefined || lastUsed >= dateOf(now - unusedMs);
}

function dateOf(at: Instant): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The beginning of a day, or undefined if the text is no date. */
function dayOf(date: string): Instant | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined;
  const at = Date.parse(date);
  return Number.isNaN(at) ? undefined : at;
}
