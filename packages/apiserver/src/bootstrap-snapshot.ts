/**
 * Bootstrap snapshot: the objects that the first start of a cluster writes, prebuilt. The objects differ between
 * clusters only in uids and timestamps, and creating them takes a quarter of a first start. The snapshot is optional:
 * the bootstrap creates missing objects itself, as on every other start.
 */
import { uuid } from '@kruise/machinery/uuid';
import type { Clock } from '@kruise/values/clock';
import { type Random, seededRandom } from '@kruise/values/random';
import { formatTime, instantOf } from '@kruise/values/time';
import { virtualClock } from '@kruise/values/virtual-clock';
import { startApiServer } from './server.ts';
import { createMemoryStore } from './store/memory.ts';
import type { Store } from './store/store.ts';

/** Stored objects by key, with placeholders for uids and timestamps. */
export type BootstrapSnapshot = { readonly [key: string]: string };

const prefix = '/registry/';
const uidPlaceholder = '<uid>';
const timePlaceholder = '<time>';
/** Prefix of objects that are specific to a cluster: its CAs, and its creation date. */
const clusterSpecificPrefix = '/registry/configmaps/';
const builtAt = instantOf(2000, 1, 1);

/**
 * Builds a bootstrap snapshot: the objects that an idle server has stored after its first start. `turn` lets the server
 * progress.
 */
export async function buildBootstrapSnapshot(yieldTurn: () => Promise<void>): Promise<BootstrapSnapshot> {
  const clock = virtualClock(builtAt);
  const store = createMemoryStore({ clock });
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const server = await startApiServer({ store, clock, random: seededRandom('foundation'), onError });
  // Some statuses are written asynchronously after the start.
  for (let seen = 0; seen !== (await store.currentRevision()); ) {
    seen = await store.currentRevision();
    await yieldTurn();
    await server.core.feed.waitForCurrent();
  }
  const { entries } = await store.range({ prefix });
  await server.close();
  if (failures.length > 0) throw new AggregateError(failures, 'the server reported errors while starting');
  const template = (value: Uint8Array) =>
    Buffer.from(value)
      .toString()
      .replace(/"uid":"[^"]+"/, `"uid":"${uidPlaceholder}"`)
      .replaceAll(formatTime(builtAt), timePlaceholder);
  return Object.fromEntries(
    entries.filter(({ key }) => !key.startsWith(clusterSpecificPrefix)).map(({ key, value }) => [key, template(value)]),
  );
}

/** Restores the bootstrap snapshot into an empty store. */
export async function restoreBootstrapSnapshot(
  store: Store,
  clock: Clock,
  random: Random,
  read: () => BootstrapSnapshot,
): Promise<void> {
  const { entries } = await store.range({ prefix, limit: 1 });
  if (entries.length > 0) return;
  const time = formatTime(clock.now());
  const writes = Object.entries(read()).map(([key, template]) => {
    const value = Buffer.from(template.replace(uidPlaceholder, uuid(random)).replaceAll(timePlaceholder, time));
    return store.write({ key, expected: 0, value });
  });
  await Promise.all(writes);
}
