import { apiVersionOf } from '@kruise/schema/kind';
import { stringify } from '@kruise/values/go-json';
import type { Found, Resource } from '../resource.ts';

/** The JSON text of an object as the cache keeps it, with its managed fields put back where they belong: last. */
export function foundText({ serializer }: Resource, { object, cached }: Found): string {
  const text = serializer.toJson(object);
  const { managedFields } = cached;
  if (managedFields === undefined || object.metadata.managedFields !== undefined) return text;
  const key = '"metadata":';
  const end = text.indexOf(key) + key.length + stringify(object.metadata).length - 1;
  return `${text.slice(0, end)},"managedFields":${managedFields}${text.slice(end)}`;
}

/** The JSON text of an object in a list. Built-in lists say their items' kind once, at the top. */
export function itemText(resource: Resource, found: Found): string {
  const text = foundText(resource, found);
  if (resource.custom) return text;
  const { kind } = resource;
  const prefix = `{"kind":"${kind.kind}","apiVersion":"${apiVersionOf(kind)}",`;
  return text.startsWith(prefix) ? `{${text.slice(prefix.length)}` : text;
}
