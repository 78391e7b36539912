import { Buffer } from 'node:buffer';
import { apiVersionOf } from '@kruise/schema/kind';
import { wholeTexts } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import { storedText } from '../stored-text.ts';

/** Returns the JSON text of a cached object, with managedFields as the last metadata field. */
export function foundText(resource: Resource, found: Found): string {
  return partsOf(resource, found).join('');
}

/** Returns the JSON text as bytes with a prefix and a suffix. The text of a recent write is reused. */
export function foundBytes(resource: Resource, found: Found, before: string, after: string): Buffer {
  const { object, cached } = found;
  const stored = object === cached.object && !resource.custom ? storedText(object, before, after) : undefined;
  return stored ?? Buffer.from(`${before}${foundText(resource, found)}${after}`);
}

/**
 * Returns the JSON text of a list item in parts, which avoids a copy. Items of built-in lists have no kind or
 * apiVersion.
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
  return wholeTexts(serializer.toJson(object), { object, managedFields: cached.managedFields });
}
