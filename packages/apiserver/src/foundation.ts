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
export type Foundation = { readonly [key: string]: string };

const prefix = '/registry/';
const uidMark = '<uid>';
const timeMark = '<time>';
/** Prefix of objects that are specific to a cluster: its CAs, and its creation date. */
const ownPrefix = '/registry/configmaps/';
const madeAt = instantOf(2000, 1, 1);

/**
 * Builds a bootstrap snapshot: the objects that an idle server has stored after its first start. `turn` lets the server
 * progress.
 */
export async function makeFoundation(turn: () => Promise<void>): Promise<Foundation> {
  const clock = virtualClock(madeAt);
  const store = createMemoryStore({ clock });
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const server = await startApiServer({ store, clock, random: seededRandom('foundation'), onError });
  // Some statuses are written asynchronously after the start.
  for (let seen = 0; seen !== (await store.currentRevision()); ) {
    seen = await store.currentRevision();
    await turn();
    await server.core.feed.caughtUp();
  }
  const { entries } = await store.range({ prefix });
  await server.close();
  if (failures.length > 0) throw new AggregateError(failures, 'the server reported errors while starting');
  const marked = (value: Uint8Array) =>
    Buffer.from(value)
      .toString()
      .replace(/"uid":"[^"]+"/, `"uid":"${uidMark}"`)
      .replaceAll(formatTime(madeAt), timeMark);
  return Object.fromEntries(
    entries.filter(({ key }) => !key.startsWith(ownPrefix)).map(({ key, value }) => [key, marked(value)]),
  );
}

/** Restores the bootstrap snapshot into an empty store. */
export async function layFoundation(store: Store, clock: Clock, random: Random, read: () => Foundation): Promise<void> {
  const { entries } = await store.range({ prefix, limit: 1 });
  if (entries.length > 0) return;
  const time = formatTime(clock.now());
  const writes = Object.entries(read()).map(([key, marked]) => {
    const value = Buffer.from(marked.replace(uidMark, uuid(random)).replaceAll(timeMark, time));
    return store.write({ key, expected: 0, value });
  });
  await Promise.all(writes);
}
