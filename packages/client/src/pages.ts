import { isExpired } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Client, List, ListOptions } from './client.ts';

/** As many objects as kubectl and Go's informers ask for at a time. */
const usualPage = 500;

/**
 * The objects of a selection page by page, so that a long list neither stands in memory at once nor holds anyone up.
 * All pages are of one moment. If the server has forgotten that moment half way, an error says so (`isExpired`).
 */
export async function* eachPage<K extends Kind>(
  client: Client,
  kind: K,
  { limit = usualPage, ...options }: ListOptions = {},
): AsyncGenerator<List<ObjectOf<K>>> {
  let token: string | undefined;
  do {
    // What follows a first page is told by the token alone.
    const { resourceVersion: _, resourceVersionMatch: __, ...selection } = options;
    const page = await client.list(
      kind,
      token === undefined ? { ...options, limit } : { ...selection, limit, continue: token },
    );
    yield page;
    token = page.metadata.continue || undefined;
  } while (token !== undefined);
}

/** The objects of a selection, read in pages but given at once; read in one go if the pages come to lack their moment. */
export async function listAll<K extends Kind>(
  client: Client,
  kind: K,
  options: ListOptions = {},
): Promise<List<ObjectOf<K>>> {
  const items: ObjectOf<K>[] = [];
  let metadata: List<unknown>['metadata'] = {};
  try {
    for await (const page of eachPage(client, kind, options)) {
      for (const item of page.items) items.push(item);
      metadata = page.metadata;
    }
  } catch (error) {
    if (!isExpired(error) || items.length === 0) throw error;
    const { limit: _, ...unlimited } = options;
    return client.list(kind, unlimited);
  }
  const { resourceVersion } = metadata;
  return { metadata: resourceVersion === undefined ? {} : { resourceVersion }, items };
}
