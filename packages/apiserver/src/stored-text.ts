/**
 * The JSON text of what was written last, as it was stored. It is needed again at once, for the writer and for those who
 * watch, and all it lacks then is the resourceVersion, which the store gave it.
 */
import { Buffer } from 'node:buffer';
import type { KubeObject } from './object.ts';

/** How much is kept: those who watch may be some thousand events behind. What is needed later is written down anew. */
const keptBytes = 16 * 2 ** 20;
const texts = new Map<KubeObject, Uint8Array>();
let bytes = 0;

/** Keeps the stored text of an object that has its resourceVersion now. */
export function keepStoredText(object: KubeObject, text: Uint8Array): void {
  texts.set(object, text);
  bytes += text.length;
  for (const [oldest, { length }] of texts) {
    if (bytes <= keptBytes) return;
    texts.delete(oldest);
    bytes -= length;
  }
}

const uidKey = Buffer.from('"uid":"');

/** The text of an object, resourceVersion and managed fields included, between two others; undefined if it is not kept. */
export function storedText(object: KubeObject, before: string, after: string): Buffer | undefined {
  const stored = texts.get(object);
  const { uid, resourceVersion } = object.metadata;
  if (!stored || uid === undefined || resourceVersion === undefined) return undefined;
  const json = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  // Of all keys the first: a name cannot have a quote that is not escaped.
  const end = json.indexOf(uidKey) + uidKey.length + Buffer.byteLength(uid) + 1;
  const version = `,"resourceVersion":"${resourceVersion}"`;
  const text = Buffer.allocUnsafe(before.length + json.length + version.length + after.length);
  let offset = text.write(before, 'latin1');
  offset += json.copy(text, offset, 0, end);
  offset += text.write(version, offset, 'latin1');
  offset += json.copy(text, offset, end);
  text.write(after, offset, 'latin1');
  return text;
}
