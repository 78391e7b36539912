import type { Client } from '@kruise/client/client';
import type { Kind, ObjectOf } from '@kruise/schema/kind';

/** Yields the objects of a kind initially and after each change, without gaps. */
export async function* statesOf<K extends Kind>(client: Client, kind: K): AsyncGenerator<readonly ObjectOf<K>[]> {
  const uidOf = ({ metadata }: ObjectOf<K>) => metadata.uid;
  const { items, metadata } = await client.list(kind);
  const objects = new Map(items.map((each) => [uidOf(each), each]));
  yield items;
  const stop = new AbortController();
  try {
    const { resourceVersion = '' } = metadata;
    for await (const { type, object } of client.watch(kind, { resourceVersion, signal: stop.signal })) {
      if (type === 'DELETED') objects.delete(uidOf(object));
      else objects.set(uidOf(object), object);
      yield [...objects.values()];
    }
  } finally {
    stop.abort();
  }
  throw new Error(`the watch of ${kind.plural} ended`);
}

/** Waits until the objects of a kind satisfy a condition, and returns its result. */
export async function until<K extends Kind, T>(
  client: Client,
  kind: K,
  find: (objects: readonly ObjectOf<K>[]) => T | undefined | false,
): Promise<T> {
  for await (const objects of statesOf(client, kind)) {
    const found = find(objects);
    if (found) return found;
  }
  throw new Error(`${kind.plural} never came to be so`);
}
