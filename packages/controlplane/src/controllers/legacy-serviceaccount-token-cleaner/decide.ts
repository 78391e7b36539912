import type { Secret } from '@kruise/api/core/secret';
import type { ServiceAccount } from '@kruise/api/core/serviceaccount';
import { isBeingDeleted, patch, remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { type Instant, parseTime } from '@kruise/values/time';
import { accountUidOf } from '../serviceaccount-token/decide.ts';

export type Observed = {
  readonly secret: Secret;
  /** ServiceAccount that the Secret names, with any UID. */
  readonly account: ServiceAccount | undefined;
  readonly isMounted: boolean;
  /** Date since when the API server tracks the use of tokens, if it does. */
  readonly trackedSince: string | undefined;
};

const lastUsedKey = 'kubernetes.io/legacy-token-last-used';
const invalidSinceKey = 'kubernetes.io/legacy-token-invalid-since';
const daySeconds = 24 * 60 * 60;
const dayMs = daySeconds * 1000;
/** Period after which an unused token is marked as invalid, and after the same period again is deleted. */
const unusedMs = 365 * dayMs;

/**
 * Marks an auto-generated token, as clusters before v1.24 created them, as invalid when it was not used for a year, and
 * deletes it after another year.
 */
export function decide(observed: Observed, now: Instant): Decision<undefined> {
  const { secret } = observed;
  if (!isMadeByItself(observed) || isBeingDeleted(secret)) return { actions: [] };
  // The API server records usage by day, so the next check is a day later.
  const tomorrow = { requeueAfterSeconds: daySeconds };
  if (isNeeded(observed, now)) return { actions: [], ...tomorrow };
  const { labels, resourceVersion } = secret.metadata;
  const invalidSince = labels?.[invalidSinceKey] ?? '';
  if (dayOf(invalidSince) === undefined) {
    return { actions: [patch(secret, { metadata: { labels: { [invalidSinceKey]: dateOf(now) } } })], ...tomorrow };
  }
  if (invalidSince >= dateOf(now - unusedMs)) return { actions: [], ...tomorrow };
  // The precondition keeps a token whose label was removed or that was used at the same moment.
  const preconditions = { resourceVersion: resourceVersion ?? '' };
  return { actions: [{ ...remove(secret), options: { preconditions } }] };
}

/**
 * Reports whether the token was auto-generated: its account refers to it. Manually created tokens have no such
 * reference.
 */
function isMadeByItself({ secret, account }: Observed): boolean {
  const uid = accountUidOf(secret);
  if (!account || (uid !== undefined && uid !== account.metadata.uid)) return false;
  return account.secrets?.some(({ name }) => name === secret.metadata.name) ?? false;
}

function isNeeded({ secret, isMounted, trackedSince = '' }: Observed, now: Instant): boolean {
  const tracked = dayOf(trackedSince);
  // On the first day, some servers may not track usage yet.
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

/** Returns the start of a day; undefined if the text is not a date. */
function dayOf(date: string): Instant | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined;
  const at = Date.parse(date);
  return Number.isNaN(at) ? undefined : at;
}
