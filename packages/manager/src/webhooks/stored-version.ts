import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import { convertObject } from '../conversion/catalogue.ts';
import { typed } from '../typed.ts';

/** An object in the version its kind is stored in, if that is not the one it was sent in. */
export function inStoredVersion<K extends Kind>(stored: K, older: Kind, object: unknown): ObjectOf<K> {
  const apiVersion = apiVersionOf(stored);
  // Every object says what it is.
  if ((object as { readonly apiVersion: string }).apiVersion === apiVersion) return typed(stored, object);
  // An object of one version of a kind converts to the other.
  return convertObject(typed(older, object) as never, apiVersion) as ObjectOf<K>;
}
