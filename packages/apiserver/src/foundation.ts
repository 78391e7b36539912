/**
 * What the first start of every cluster writes, made beforehand. These objects differ from cluster to cluster in their
 * uids and times alone, and to make each of them anew is a quarter of a first start. Nothing depends on it: what is not
 * there is made by the start itself, as on every other one.
 */
import { uuid } from '@kruise/machinery/uuid';
import type { Clock } from '@kruise/values/clock';
import { type Random, seededRandom } from '@kruise/values/random';
import { formatTime, instantOf } from '@kruise/values/time';
import { virtualClock } from '@kruise/values/virtual-clock';
import { startApiServer } from './server.ts';
import { createMemoryStore } from './store/memory.ts';
import type { Store } from './store/store.ts';

/** Objects as they are stored, by their keys, with marks where their uids and times belong. */
export type Foundation = { readonly [key: string]: string };

const prefix = '/registry/';
const uidMark = '<uid>';
const timeMark = '<time>';
/** Of the cluster at hand: its authorities, and the day it was made. */
const ownPrefix = '/registry/configmaps/';
const madeAt = instantOf(2000, 1, 1);

/** Makes a foundation: what a server has stored when it has nothing more to do. A turn lets it go on. */
export async function makeFoundation(turn: () => Promise<void>): Promise<Foundation> {
  const clock = virtualClock(madeAt);
  const store = createMemoryStore({ clock });
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const server = await startApiServer({ store, clock, random: seededRandom('foundation'), onError });
  // Some statuses are written beside the start.
  for (let seen = 0; seen !== (await store.currentRevision()); ) {
    seen = await store.currentRevision();
    await turn();
    await server.core.feed.caughtUp();
  }
  const { entries } = await store.range({ prefix });
  await server.close();
  if (failures.length > 0) throw new AggregateError(failures, 'the server did not start well');
  const marked = (value: Uint8Array) =>
    Buffer.from(value)
      .toString()
      .replace(/"uid":"[^"]+"/, `"uid":"${uidMark}"`)
      .replaceAll(formatTime(madeAt), timeMark);
  return Object.fromEntries(
    entries.filter(({ key }) => !key.startsWith(ownPrefix)).map(({ key, value }) => [key, marked(value)]),
  );
}

/** Lays a foundation where nothing is stored yet. */
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
