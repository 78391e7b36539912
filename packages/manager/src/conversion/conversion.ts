/**
 * Conversion of objects between versions. Each kind declares which fields move. The shared code here decodes the source
 * version and encodes the target version.
 */
import type { JsonObject } from '@kruise/machinery/json-value';
import { apiVersionOf, type Kind, type ObjectOf } from '@kruise/schema/kind';
import { typed } from '../webhooks/typed.ts';

/** A kind in two versions, and the conversion in both directions. */
export type KindConversion = {
  readonly stored: Kind;
  readonly older: Kind;
  /** Converts the object to a version. Throws an error for the caller if the version cannot express the object. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
};

/** The fields that move, in both directions. Types and version names are handled by the caller. */
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
      // A codec encodes to JSON.
      return apiVersion === apiVersionOf(stored)
        ? (typed(stored, named(stored, toStored(typed(older, object)))) as JsonObject)
        : (typed(older, named(older, toOlder(typed(stored, object)))) as JsonObject);
    },
  };
}

/** Returns annotations or labels without some keys; undefined if no key remains. */
export function without(
  map: { readonly [key: string]: string } | undefined,
  ...keys: readonly string[]
): { readonly [key: string]: string } | undefined {
  const left = Object.entries(map ?? {}).filter(([key]) => !keys.includes(key));
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}
