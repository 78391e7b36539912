import { isAlreadyExists } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import type { Client } from '../api/client.ts';

/**
 * Creates an object unless one with its name exists, which is left unchanged. For the initial objects of a cluster.
 *
 * ```ts
 * await createIfMissing(client, namespace, { metadata: { name: 'kruise-system' } });
 * ```
 */
export async function createIfMissing<K extends Kind>(
  client: Client,
  kind: K,
  object: Parameters<typeof client.create<K>>[1],
): Promise<void> {
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
