import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import { convertObject } from '../conversion/catalogue.ts';
import { typed } from './typed.ts';

/** Converts an object to the storage version of its kind, if it was sent in another version. */
export function inStoredVersion<K extends Kind>(stored: K, older: Kind, object: unknown): ObjectOf<K> {
  const apiVersion = apiVersionOf(stored);
  // Every object has an apiVersion.
  if ((object as { readonly apiVersion: string }).apiVersion === apiVersion) return typed(stored, object);
  // The conversion returns an object of the storage version.
  return convertObject(typed(older, object) as never, apiVersion) as ObjectOf<K>;
}
