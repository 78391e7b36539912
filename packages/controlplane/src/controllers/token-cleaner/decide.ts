import type { Secret } from '@kruise/api/core/secret';
import { remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Instant } from '@kruise/values/time';
import { tokenExpiry } from '../bootstrap-token.ts';

/** Deletes an expired token. */
export function decide(token: Secret, now: Instant): Decision<undefined> {
  const expiry = tokenExpiry(token);
  if (expiry === undefined) return { actions: [] };
  return now >= expiry ? { actions: [remove(token)] } : { actions: [], requeueAfterSeconds: (expiry - now) / 1000 };
}
