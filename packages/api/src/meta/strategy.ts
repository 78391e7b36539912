/**
 * What the server does to an object on its way in, before it looks whether it is sound: what is not the writer's to say
 * is as it was, and the generation counts the changes of what was asked for. Old objects are shared: what is taken
 * from one is taken as it is, and never changed.
 */
import type { Draft } from '@kruise/schema/draft';
import type { ObjectMeta } from './object-meta.ts';
import { isSame } from './same.ts';

/** What preparing an object for creation depends on beside the object. */
export type CreateContext = {
  /** The time of the request, as objects write it. */
  readonly now: string;
  /** Tells the writer something the answer's Warning headers carry. */
  readonly warn: (text: string) => void;
};

type Whole = { readonly metadata: ObjectMeta; readonly spec?: unknown; readonly status?: unknown };
type DraftOf = { metadata: Draft<ObjectMeta>; spec?: unknown; status?: unknown };

/** A new object has no status, and is in its first generation. */
export function startAfresh(object: DraftOf): void {
  delete object.status;
  object.metadata.generation = 1;
}

/** Who writes an object does not write its status. */
export function keepStatus(object: DraftOf, old: Whole): void {
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
}

/** Who writes its status writes no more of it than that. */
export function keepSpec(object: DraftOf, old: Whole): void {
  if (old.spec === undefined) delete object.spec;
  else object.spec = old.spec;
}

/** One generation more, if the spec is another. */
export function countGeneration(object: DraftOf, old: Whole): void {
  if (!isSame(object.spec, old.spec)) nextGeneration(object, old);
}

export function nextGeneration(object: DraftOf, old: Whole): void {
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
