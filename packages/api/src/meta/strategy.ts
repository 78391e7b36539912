/**
 * Preparation of objects before validation: fields that the client may not set keep their old values, and the
 * generation counts changes of the spec. Old objects are shared: their parts are reused and never mutated.
 */
import type { Draft } from '@kruise/schema/draft';
import type { ObjectMeta } from './object-meta.ts';
import { isSame } from './same.ts';

/** Context of a creation besides the object. */
export type CreateContext = {
  /** The time of the request in the format of objects. */
  readonly now: string;
  /** Adds a Warning header to the response. */
  readonly warn: (text: string) => void;
};

type Whole = { readonly metadata: ObjectMeta; readonly spec?: unknown; readonly status?: unknown };
type DraftOf = { metadata: Draft<ObjectMeta>; spec?: unknown; status?: unknown };

/** A new object has no status, and generation 1. */
export function resetNewObject(object: DraftOf): void {
  delete object.status;
  object.metadata.generation = 1;
}

/** Keeps the old status: an update of the object does not change it. */
export function keepStatus(object: DraftOf, old: Whole): void {
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
}

/** Keeps everything except the status: an update of the status changes nothing else. */
export function keepSpec(object: DraftOf, old: Whole): void {
  if (old.spec === undefined) delete object.spec;
  else object.spec = old.spec;
}

/** Increments the generation if the spec has changed. */
export function incrementGeneration(object: DraftOf, old: Whole): void {
  if (!isSame(object.spec, old.spec)) nextGeneration(object, old);
}

export function nextGeneration(object: DraftOf, old: Whole): void {
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
