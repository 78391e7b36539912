import { Buffer } from 'node:buffer';
import { apiVersionOf } from '@kruise/schema/kind';
import { wholeTexts } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import { storedText } from '../stored-text.ts';

/** The JSON text of an object as the cache keeps it, with its managed fields put back where they belong: last. */
export function foundText(resource: Resource, found: Found): string {
  return partsOf(resource, found).join('');
}

/** The same as bytes between two others. What was written a moment ago need not be written down again. */
export function foundBytes(resource: Resource, found: Found, before: string, after: string): Buffer {
  const { object, cached } = found;
  const stored = object === cached.object && !resource.custom ? storedText(object, before, after) : undefined;
  return stored ?? Buffer.from(`${before}${foundText(resource, found)}${after}`);
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
  return wholeTexts(serializer.toJson(object), { object, managedFields: cached.managedFields });
}
