/**
 * How objects of one version become objects of another (manager.md §12). Each kind says what moved; reading them as what
 * they are, and writing them as what they become, is done here for all.
 */
import type { JsonObject } from '@kruise/machinery/json-value';
import { apiVersionOf, type Kind, type ObjectOf } from '@kruise/schema/kind';
import { typed } from '../typed.ts';

/** A kind in two versions, and the way from each to the other. */
export type KindConversion = {
  readonly stored: Kind;
  readonly older: Kind;
  /** The object in a version; throws what is told to whoever asked if it cannot be said in it. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
};

/** What moved, both ways; types and names of versions are seen to. */
export type Moves<Older extends Kind, Stored extends Kind> = {
  readonly toStored: (object: ObjectOf<Older>) => Omit<ObjectOf<Stored>, 'apiVersion' | 'kind'>;
  readonly toOlder: (object: ObjectOf<Stored>) => Omit<ObjectOf<Older>, 'apiVersion' | 'kind'>;
};

export function conversionOf<Older extends Kind, Stored extends Kind>(
  older: Older,
  stored: Stored,
  { toStored, toOlder }: Moves<Older, Stored>,
): KindConversion {
  const named = (kind: Kind, object: object) => ({ ...object, apiVersion: apiVersionOf(kind), kind: kind.kind });
  return {
    stored,
    older,
    convert(object, apiVersion) {
      // What comes out of a schema is JSON again.
      return apiVersion === apiVersionOf(stored)
        ? (typed(stored, named(stored, toStored(typed(older, object)))) as JsonObject)
        : (typed(older, named(older, toOlder(typed(stored, object)))) as JsonObject);
    },
  };
}

/** The annotations or labels without some of them; none at all where none is left. */
export function without(
  map: { readonly [key: string]: string } | undefined,
  ...keys: readonly string[]
): { readonly [key: string]: string } | undefined {
  const left = Object.entries(map ?? {}).filter(([key]) => !keys.includes(key));
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}
