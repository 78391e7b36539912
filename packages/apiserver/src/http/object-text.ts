import { apiVersionOf } from '@kruise/schema/kind';
import { stringify } from '@kruise/values/go-json';
import type { Found, Resource } from '../resource.ts';

/** The JSON text of an object as the cache keeps it, with its managed fields put back where they belong: last. */
export function foundText(resource: Resource, found: Found): string {
  return partsOf(resource, found).join('');
}

/**
 * The JSON text of an object in a list, in parts: put together it would be copied once more. Built-in lists say their
 * items' kind once, at the top.
 */
export function itemTexts(resource: Resource, found: Found): readonly string[] {
  const parts = partsOf(resource, found);
  if (resource.custom) return parts;
  const { kind } = resource;
  const prefix = `{"kind":"${kind.kind}","apiVersion":"${apiVersionOf(kind)}",`;
  const [first = '', ...others] = parts;
  return first.startsWith(prefix) ? ['{', first.slice(prefix.length), ...others] : parts;
}

function partsOf({ serializer }: Resource, { object, cached }: Found): readonly string[] {
  const text = serializer.toJson(object);
  const { managedFields } = cached;
  if (managedFields === undefined || object.metadata.managedFields !== undefined) return [text];
  const key = '"metadata":';
  const end = text.indexOf(key) + key.length + stringify(object.metadata).length - 1;
  return [text.slice(0, end), ',"managedFields":', managedFields, text.slice(end)];
}
