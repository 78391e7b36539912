import { type Cause, forbidden, invalid, tooLong } from '@kruise/schema/field-error';
import { validateConfigMapKey } from '@kruise/values/names';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { refusals } from '../meta/value.validate.ts';
import type { ConfigMap } from './configmap.ts';

export const maxDataBytes = 1024 * 1024;
export const immutableOnceSet = 'field is immutable when `immutable` is set';

export function* validateConfigMap({ metadata, data = {}, binaryData = {} }: ConfigMap): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  let totalBytes = 0;
  for (const key in data) {
    yield* refusals(`data[${key}]`, key, validateConfigMapKey(key));
    if (Object.hasOwn(binaryData, key)) yield invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
    totalBytes += Buffer.byteLength(data[key]!);
  }
  for (const key in binaryData) {
    yield* refusals(`binaryData[${key}]`, key, validateConfigMapKey(key));
    totalBytes += base64Length(binaryData[key]);
  }
  if (totalBytes > maxDataBytes) yield tooLong('', maxDataBytes);
}

/** Returns the number of bytes in a base64 text. Null, which is a map entry without a value, has 0. */
export function base64Length(text: string | null | undefined): number {
  return Buffer.byteLength(text ?? '', 'base64');
}

export function* validateConfigMapUpdate(object: ConfigMap, old: ConfigMap): Generator<Cause> {
  yield* validateKindMetaUpdate(object.metadata, old.metadata);
  if (old.immutable) {
    if (!object.immutable) yield forbidden('immutable', immutableOnceSet);
    for (const field of ['data', 'binaryData'] as const) {
      if (!isSame(object[field] ?? {}, old[field] ?? {})) yield forbidden(field, immutableOnceSet);
    }
  }
  yield* validateConfigMap(object);
}
