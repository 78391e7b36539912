import type { Draft } from '@kruise/schema/draft';
import { type Cause, duplicate, forbidden, invalid, required, tooLong } from '@kruise/schema/field-error';
import { validateQualifiedName } from '@kruise/values/names';
import type { TopologySelectorTerm } from '../core/topology-selector.ts';
import { validateLabelKey } from '../meta/labels.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, oneOf, orNull, refusals } from '../meta/value.validate.ts';
import type { StorageClass } from './storageclass.ts';

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

export function defaultStorageClass(object: Draft<StorageClass>): void {
  object.reclaimPolicy ??= 'Delete';
  object.volumeBindingMode ??= 'Immediate';
}

export function* validateStorageClass(object: StorageClass): Generator<Cause> {
  const { metadata, provisioner, parameters = {}, reclaimPolicy, volumeBindingMode, allowedTopologies = [] } = object;
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  if (!provisioner) yield required('provisioner');
  else yield* refusals('provisioner', provisioner.toLowerCase(), validateQualifiedName(provisioner.toLowerCase()));
  yield* validateParameters(parameters);
  if (reclaimPolicy) yield* oneOf('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain']);
  if (volumeBindingMode === undefined) yield required('volumeBindingMode');
  else yield* oneOf('volumeBindingMode', volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']);
  yield* validateTopologies(allowedTopologies);
}

function* validateParameters(parameters: { readonly [name: string]: string }): Generator<Cause> {
  const entries = Object.entries(parameters);
  if (entries.length > maxParameters) return yield tooLong('parameters', maxParameters);
  let totalBytes = 0;
  for (const [name, value] of entries) {
    if (name === '') yield invalid('parameters', name, 'field can not be empty.');
    totalBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (totalBytes > maxParameterBytes) yield tooLong('parameters', maxParameterBytes);
}

function* validateTopologies(terms: readonly TopologySelectorTerm[]): Generator<Cause> {
  const earlier: unknown[] = [];
  for (const [index, { matchLabelExpressions = [] }] of terms.entries()) {
    const path = `allowedTopologies[${index}].matchLabelExpressions`;
    const allowed: { [key: string]: readonly string[] } = {};
    for (const [at, { key, values: given }] of matchLabelExpressions.entries()) {
      const values = given ?? [];
      const seen = new Set<string>();
      if (values.length === 0) yield required(`${path}[${at}].values`);
      for (const [position, value] of values.entries()) {
        if (seen.has(value)) yield duplicate(`${path}[${at}].values[${position}]`, value);
        seen.add(value);
      }
      yield* validateLabelKey(key, `${path}[${at}].key`);
      if (Object.hasOwn(allowed, key)) yield duplicate(`${path}[${at}].key`, key);
      allowed[key] = [...seen].sort();
    }
    for (const other of earlier) if (isSame(other, allowed)) yield duplicate(path, '');
    earlier.push(allowed);
  }
}

export function* validateStorageClassUpdate(object: StorageClass, old: StorageClass): Generator<Cause> {
  yield* validateKindMetaUpdate(object.metadata, old.metadata);
  for (const field of ['parameters', 'provisioner', 'reclaimPolicy'] as const) {
    if (!isSame(object[field], old[field])) yield forbidden(field, `updates to ${field} are forbidden.`);
  }
  if (object.volumeBindingMode !== old.volumeBindingMode) {
    yield invalid('volumeBindingMode', orNull(object.volumeBindingMode), isImmutable);
  }
}
