import { isConflict } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Client, Reference, WriteOptions } from './client.ts';

/** Every conflict means that another client made progress. With this many conflicts, another approach is necessary. */
const maxAttempts = 50;

/**
 * Reads an object, changes it and updates it; retries on conflict. Nothing is written if `change` returns the same
 * object.
 *
 * ```ts
 * await updateWithRetry(client, configMap, reference, (found) => ({ ...found, data: { ...found.data, seen: 'yes' } }));
 * ```
 */
export async function updateWithRetry<K extends Kind>(
  client: Client,
  kind: K,
  reference: Reference,
  change: (object: ObjectOf<K>) => ObjectOf<K>,
  options: WriteOptions = {},
): Promise<ObjectOf<K>> {
  for (let attempt = 1; ; attempt++) {
    const found = await client.get(kind, reference, options.signal ? { signal: options.signal } : {});
    const changed = change(found);
    if (changed === found) return found;
    try {
      return await client.update(kind, changed, options);
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw error;
    }
  }
}
