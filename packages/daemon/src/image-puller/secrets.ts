import { type Secret, secret } from '@kruise/api/core/secret';
import type { PullSecret } from '@kruise/api/kruise/nodeimage';
import type { Client } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import type { Clock } from '@kruise/values/clock';
import { type Random, randomInteger } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';

type Entry = { readonly found: Secret; readonly until: Instant };

const minuteMs = 60_000;

/** Reads Secrets and caches each one for some minutes. A Secret that cannot be read is skipped. */
export function createSecretReader(client: Client, clock: Clock, random: Random, log: Log) {
  const known = new Map<string, Entry>();

  async function read({ namespace = '', name = '', mode = '' }: PullSecret): Promise<Secret | undefined> {
    const now = clock.now();
    // Expired entries are removed, so that the Secrets of finished nodes are not kept for ever.
    for (const [key, { until }] of known) if (until <= now) known.delete(key);
    const key = `${namespace}/${name}/${mode}`;
    const entry = known.get(key);
    if (entry) return entry.found;
    try {
      const found = await client.get(secret, { namespace, name });
      known.set(key, { found, until: now + (5 + randomInteger(random, 5)) * minuteMs });
      return found;
    } catch (error) {
      log.warn({ namespace, secret: name, error }, 'failed to get pull secret; pulling without it');
      return undefined;
    }
  }

  return async (references: readonly PullSecret[]): Promise<readonly Secret[]> => {
    const found = await Promise.all(references.map(read));
    return found.filter((each) => each !== undefined);
  };
}
