import { isConflict } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Client, Reference, WriteOptions } from './client.ts';

/** Each conflict means that someone else got on. Who is overtaken this often should do its work some other way. */
const maxAttempts = 50;

/**
 * Changes an object by what is made of it, and starts over if someone else wrote meanwhile. Where the change gives back
 * the object itself nothing is written.
 *
 *     await modify(client, configMap, reference, (found) => ({ ...found, data: { ...found.data, seen: 'yes' } }));
 */
export async function modify<K extends Kind>(
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
