import { type Cause, tooLong } from '@kruise/schema/field-error';
import { validateLabelValue, validateQualifiedName } from '@kruise/values/names';
import { refusals } from './value.validate.ts';

// Lists rather than generators, in which iterating over a map is several times slower: every write runs this.
type StringMap = { readonly [key: string]: string };

const maxAnnotationsBytes = 256 * 1024;

export function validateLabels(labels: StringMap | undefined, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  for (const key in labels) {
    if (!isKey(key)) causes.push(...validateLabelKey(key, path));
    const faults = validateLabelValue(labels[key]!);
    if (faults.length > 0) causes.push(...refusals(path, labels[key], faults));
  }
  return causes;
}

export function validateLabelKey(key: string, path: string): readonly Cause[] {
  return refusals(path, key, validateQualifiedName(key));
}

// All objects of a cluster together have few different keys.
const goodKeys = new Set<string>();
const maxGoodKeys = 4096;

function isKey(key: string): boolean {
  if (goodKeys.has(key)) return true;
  if (validateQualifiedName(key).length > 0) return false;
  if (goodKeys.size === maxGoodKeys) goodKeys.clear();
  goodKeys.add(key);
  return true;
}

export function validateAnnotations(annotations: StringMap | undefined, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  let totalLength = 0;
  for (const key in annotations) {
    if (!isKey(key)) causes.push(...refusals(path, key, validateQualifiedName(key.toLowerCase())));
    totalLength += key.length + annotations[key]!.length;
  }
  // A text has at least as many bytes as UTF-16 code units, and at most three for each.
  if (totalLength * 3 > maxAnnotationsBytes && sizeOf(annotations!) > maxAnnotationsBytes) {
    causes.push(tooLong(path, maxAnnotationsBytes));
  }
  return causes;
}

function sizeOf(annotations: StringMap): number {
  let bytes = 0;
  for (const key in annotations) bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  return bytes;
}
