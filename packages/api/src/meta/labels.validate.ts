import { type Cause, invalid, tooLong } from '@kruise/schema/field-error';
import { validateLabelValue, validateQualifiedName } from '@kruise/values/names';
import { refusals } from './value.validate.ts';

type StringMap = { readonly [key: string]: string };

const maxAnnotationsBytes = 256 * 1024;

export function* validateLabels(labels: StringMap | undefined, path: string): Generator<Cause> {
  for (const key in labels) {
    yield* validateLabelKey(key, path);
    yield* refusals(path, labels[key], validateLabelValue(labels[key]!));
  }
}

export function validateLabelKey(key: string, path: string): readonly Cause[] {
  return refusals(path, key, validateQualifiedName(key));
}

export function* validateAnnotations(annotations: StringMap | undefined, path: string): Generator<Cause> {
  let totalBytes = 0;
  for (const key in annotations) {
    for (const fault of validateQualifiedName(key.toLowerCase())) yield invalid(path, key, fault);
    totalBytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  }
  if (totalBytes > maxAnnotationsBytes) yield tooLong(path, maxAnnotationsBytes);
}
