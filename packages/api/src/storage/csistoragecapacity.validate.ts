import { type Cause, invalid } from '@kruise/schema/field-error';
import { validateDns1123Subdomain } from '@kruise/values/names';
import { isNegative } from '../core/resources.validate.ts';
import { invalidStructure } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, mustNotBeNegative, refusals } from '../meta/value.validate.ts';
import type { CSIStorageCapacity } from './csistoragecapacity.ts';

export function* validateCSIStorageCapacity(object: CSIStorageCapacity): Generator<Cause> {
  const { metadata, nodeTopology, storageClassName, capacity } = object;
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  yield* validateLabelSelector(nodeTopology, 'nodeTopology');
  yield* refusals('storageClassName', storageClassName, validateDns1123Subdomain(storageClassName));
  if (capacity !== undefined && isNegative(capacity)) yield invalid('capacity', capacity, mustNotBeNegative);
}

export function* validateCSIStorageCapacityUpdate(
  { metadata, nodeTopology, storageClassName }: CSIStorageCapacity,
  old: CSIStorageCapacity,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (!isSame(nodeTopology, old.nodeTopology)) {
    yield invalidStructure('nodeTopology', 'v1.LabelSelector', nodeTopology, isImmutable);
  }
  if (storageClassName !== old.storageClassName) yield invalid('storageClassName', storageClassName, isImmutable);
}
