/** Empties namespaces, one resource at a time, and hears when what was left of one is gone. */
import type { Client } from '@kruise/client/client';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import { listAll } from '@kruise/client/pages';
import { isMethodNotAllowed, isNotFound } from '@kruise/machinery/status';
import { someAtATime } from '@kruise/values/some-at-a-time';
import type { Remainder } from './decide.ts';

/** What is left of a resource, and from when on to watch for its end. */
export type Left = Remainder & {
  readonly kind: DynamicKind;
  readonly names: readonly string[];
  readonly version: string;
};

export type Place = { readonly namespace: string; readonly graceSeconds: number; readonly signal: AbortSignal };

/** Deletions of one resource under way at a time, where they cannot be asked for together. */
const deletionsAtATime = 20;

/** Tells all objects of a resource in a namespace to go; says what is left, or undefined if nothing is. */
export async function empty(client: Client, kind: DynamicKind, place: Place): Promise<Left | undefined> {
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
    // It went out of service meanwhile, or never could do what discovery said it could: then nothing of it is left.
    if (isUnsupported(error)) return undefined;
    signal.throwIfAborted();
    return { ...none, error: error instanceof Error ? error.message : String(error) };
  }
}

async function removeAll(client: Client, kind: DynamicKind, place: Place, names: readonly string[]): Promise<void> {
  const { namespace, signal } = place;
  // What is owned is in the same namespace, and goes anyway.
  const options = { propagationPolicy: 'Background', signal } as const;
  if (kind.verbs.includes('deletecollection')) return client.deleteMany(kind, { namespace }, options);
  await someAtATime(names, deletionsAtATime, async (name) => {
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

/** Resolves with true once everything that was left is gone; with false if that could not be followed to the end. */
export async function gone(
  client: Client,
  { kind, names, version }: Left,
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
    // It was only to be heard of sooner: there is a time set for looking again in any case.
    return false;
  }
  return false;
}
