/**
 * JSON text of recent writes, as stored. The text is needed again at once, for the writer's response and for watchers;
 * it only lacks the resourceVersion, which the store assigns.
 */
import { Buffer } from 'node:buffer';
import type { KubeObject } from './object.ts';

/**
 * Maximum size of the kept texts: watchers may be some thousand events behind. Later uses serialize the object again.
 */
const keptBytes = 16 * 2 ** 20;
const texts = new Map<KubeObject, Uint8Array>();
let bytes = 0;

/** Keeps the stored text of an object that now has its resourceVersion. */
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

/**
 * Returns the text of an object, with resourceVersion and managedFields, between a prefix and a suffix; undefined if it
 * is not kept.
 */
export function storedText(object: KubeObject, before: string, after: string): Buffer | undefined {
  const stored = texts.get(object);
  const { uid, resourceVersion } = object.metadata;
  if (!stored || uid === undefined || resourceVersion === undefined) return undefined;
  const json = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  // The first match is the metadata key: a quote inside a name would be escaped.
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
