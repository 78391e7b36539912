import { isExpired } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Client, List, ListOptions } from './client.ts';

/** Page size of kubectl and client-go. */
const defaultPageSize = 500;

/**
 * Lists the selected objects page by page, so that a long list needs little memory. All pages are from one snapshot. If
 * the continue token expires, `isExpired` is true for the error.
 *
 * ```ts
 * for await (const { items } of eachPage(client, pod, { namespace: 'default' })) console.log(items.length);
 * ```
 */
export async function* eachPage<K extends Kind>(
  client: Client,
  kind: K,
  { limit = defaultPageSize, ...options }: ListOptions = {},
): AsyncGenerator<List<ObjectOf<K>>> {
  let token: string | undefined;
  do {
    // The continue token contains the resourceVersion.
    const { resourceVersion: _, resourceVersionMatch: __, ...selection } = options;
    const page = await client.list(
      kind,
      token === undefined ? { ...options, limit } : { ...selection, limit, continue: token },
    );
    yield page;
    token = page.metadata.continue || undefined;
  } while (token !== undefined);
}

/**
 * Lists the selected objects in pages and returns them together. If the continue token expires, falls back to one
 * unpaged list.
 *
 * ```ts
 * const pods = await listAll(client, pod, { namespace: 'default' });
 * ```
 */
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
