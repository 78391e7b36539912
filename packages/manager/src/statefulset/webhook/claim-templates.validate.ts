/** Permitted changes of PVC templates that are applied to existing PVCs. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { invalidStructure } from '@kruise/api/meta/go-value';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { type Cause, forbidden, invalid } from '@kruise/schema/field-error';
import { compareQuantities, parseQuantity, zeroQuantity } from '@kruise/values/quantity';
import { isSameKind } from '../resize.ts';

const path = 'spec.volumeClaimTemplates';

/** Only the size may change, and only where the storage class allows expansion. Yields the first error. */
export function* validateClaimTemplatesUpdate(
  set: StatefulSet,
  old: StatefulSet,
  storageClasses: readonly StorageClass[],
): Generator<Cause> {
  // The previous strategy decides which changes are permitted.
  const { type = '' } = old.spec.volumeClaimUpdateStrategy ?? {};
  if (type === '' || type === 'OnDelete') return;
  const [templates, former] = [set, old].map(({ spec }) => spec.volumeClaimTemplates ?? []);
  if (templates!.length !== former!.length) {
    const detail = 'volumeClaimTemplate can not be added or deleted when OnRollingUpdate';
    yield invalidStructure(path, 'v1.PersistentVolumeClaim', templates, detail);
    return;
  }
  for (const template of templates!) {
    const before = former!.find(({ metadata }) => metadata.name === template.metadata.name);
    const [fault] = changeFaults(template, before, storageClasses);
    if (!fault) continue;
    yield fault;
    return;
  }
}

function* changeFaults(
  template: PersistentVolumeClaim,
  before: PersistentVolumeClaim | undefined,
  storageClasses: readonly StorageClass[],
): Generator<Cause> {
  const own = `${path}[${template.metadata.name}]`;
  if (!before) {
    yield forbidden(`${own}.name`, 'volumeClaimTemplate name can not be modified');
    return;
  }
  if (!isSameKind({ claim: before, template })) {
    const detail = 'volumeClaimTemplate can not be modified when OnRollingUpdate';
    yield invalidStructure(own, 'v1.PersistentVolumeClaim', template, detail);
    return;
  }
  if (isSameSize(before, template)) return;
  const name = template.spec?.storageClassName;
  const found = storageClasses.find(({ metadata }) => metadata.name === name) ?? defaultClass(storageClasses, name);
  if (!found) {
    if (name != null) yield invalid(`${own}.spec.storageClassName`, name, 'can not get sc');
  } else if (found.allowVolumeExpansion === false) {
    const detail = `storage class ${found.metadata.name} does not support volume expansion`;
    yield forbidden(`${own}.spec.resources.requests.storage`, detail);
  }
}

/** Returns the default storage class, the newest if there are several, for a PVC that names no class. */
function defaultClass(classes: readonly StorageClass[], name: string | undefined): StorageClass | undefined {
  if (name != null) return undefined;
  const isDefault = 'storageclass.kubernetes.io/is-default-class';
  const bornAt = ({ metadata }: StorageClass) => metadata.creationTimestamp ?? '';
  return classes
    .filter(({ metadata }) => metadata.annotations?.[isDefault] === 'true')
    .reduce<StorageClass | undefined>((best, each) => (best && bornAt(best) >= bornAt(each) ? best : each), undefined);
}

function isSameSize(a: PersistentVolumeClaim, b: PersistentVolumeClaim): boolean {
  return (['requests', 'limits'] as const).every((list) => {
    const [has, had] = [a, b].map(({ spec }) => spec?.resources?.[list]?.['storage']);
    return compareQuantities(quantity(has), quantity(had)) === 0;
  });
}

function quantity(text: string | undefined) {
  return text === undefined ? zeroQuantity : parseQuantity(text);
}
