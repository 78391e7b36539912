import { isAlreadyExists } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import type { Client } from './client.ts';

/** Makes an object unless there is one of its name, which stays as it is: for what a cluster is to have at first. */
export async function createMissing<K extends Kind>(
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
