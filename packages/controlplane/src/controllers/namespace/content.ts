/** Deletes the content of namespaces, one resource at a time, and watches until the remaining objects are gone. */
import type { Client } from '@kruise/client/client';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import { listAll } from '@kruise/client/pages';
import { isMethodNotAllowed, isNotFound } from '@kruise/machinery/status';
import { errorText } from '@kruise/values/error-text';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import type { Remainder } from './decide.ts';

/** Remaining objects of a resource, and the resourceVersion to watch from. */
export type RemainingContent = Remainder & {
  readonly kind: DynamicKind;
  readonly names: readonly string[];
  readonly version: string;
};

export type Place = { readonly namespace: string; readonly graceSeconds: number; readonly signal: AbortSignal };

/** Maximum number of concurrent deletions of one resource that does not support deletecollection. */
const maxConcurrentDeletions = 20;

/** Deletes all objects of a resource in a namespace; returns the remaining ones, or undefined if none remain. */
export async function deleteContent(
  client: Client,
  kind: DynamicKind,
  place: Place,
): Promise<RemainingContent | undefined> {
  const { namespace, graceSeconds, signal } = place;
  const none = { kind, resource: kind, count: 0, finalizers: new Map(), graceSeconds, names: [], version: '' };
  try {
    const found = await listAll(client, kind, { namespace, signal });
    if (found.items.length === 0) return undefined;
    await removeAll(
      client,
      kind,
      place,
      found.items.map(({ metadata }) => metadata.name ?? ''),
    );
    const { items, metadata } = await listAll(client, kind, { namespace, signal });
    if (items.length === 0) return undefined;
    const finalizers = new Map<string, number>();
    for (const { metadata: each } of items) {
      for (const finalizer of each.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    }
    return {
      ...none,
      count: items.length,
      finalizers,
      names: items.map((item) => item.metadata.name ?? ''),
      version: metadata.resourceVersion ?? '',
    };
  } catch (error) {
    // The resource is no longer served, or discovery was wrong: no objects of it remain.
    if (isUnsupported(error)) return undefined;
    signal.throwIfAborted();
    return { ...none, error: errorText(error) };
  }
}

async function removeAll(client: Client, kind: DynamicKind, place: Place, names: readonly string[]): Promise<void> {
  const { namespace, signal } = place;
  // Dependents are in the same namespace and are deleted anyway.
  const options = { propagationPolicy: 'Background', signal } as const;
  if (kind.verbs.includes('deletecollection')) return client.deleteCollection(kind, { namespace }, options);
  await mapConcurrently(names, maxConcurrentDeletions, async (name) => {
    try {
      await client.delete(kind, { namespace, name }, options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
}

function isUnsupported(error: unknown): boolean {
  return isNotFound(error) || isMethodNotAllowed(error);
}

/** Resolves with true when all remaining objects are gone; with false if the watch failed. */
export async function waitUntilDeleted(
  client: Client,
  { kind, names, version }: RemainingContent,
  place: Omit<Place, 'graceSeconds'>,
): Promise<boolean> {
  const { namespace, signal } = place;
  const waited = new Set(names);
  try {
    for await (const { type, object } of client.watch(kind, { namespace, resourceVersion: version, signal })) {
      if (type === 'ERROR') return false;
      if (type === 'DELETED') waited.delete(object.metadata.name ?? '');
      if (waited.size === 0) return true;
    }
  } catch {
    // The watch only speeds things up: a requeue is scheduled in any case.
    return false;
  }
  return false;
}
