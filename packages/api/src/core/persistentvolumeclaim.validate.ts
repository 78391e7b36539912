import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import { validateDns1123Label, validateDns1123Subdomain, validateQualifiedName } from '@kruise/values/names';
import { compareQuantities, parseQuantity, quantitySign, wrappedValue, zeroQuantity } from '@kruise/values/quantity';
import { invalidStructure, unsupportedBare } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, mustBePositive, oneOf, orNull, refusals } from '../meta/value.validate.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './persistentvolumeclaim.ts';
import type { TypedLocalObjectReference, TypedObjectReference } from './reference.ts';
import { isNativeResource } from './resource-name.ts';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];
const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

export function* validatePersistentVolumeClaim(claim: PersistentVolumeClaim): Generator<Cause> {
  yield* validateKindMeta(claim.metadata, { namespaced: true, name: subdomainName });
  yield* validatePersistentVolumeClaimSpec(claim.spec ?? {}, 'spec');
}

/** Validates the spec of a PVC or of a PVC template. */
export function* validatePersistentVolumeClaimSpec(spec: PersistentVolumeClaimSpec, path: string): Generator<Cause> {
  const { accessModes: modes = [], storageClassName, volumeMode } = spec;
  if (modes.length === 0) yield required(`${path}.accessModes`, 'at least 1 access mode is required');
  yield* validateLabelSelector(spec.selector, `${path}.selector`);
  for (const mode of modes) yield* oneOf(`${path}.accessModes`, mode, accessModes);
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => isSharedMode(mode))) {
    yield forbidden(`${path}.accessModes`, 'may not use ReadWriteOncePod with other access modes');
  }
  const storage = spec.resources?.requests?.['storage'];
  if (storage === undefined) yield required(`${path}.resources[storage]`);
  else if (quantitySign(parseQuantity(storage)) <= 0) {
    yield invalid(`${path}.resources[storage]`, storage, mustBePositive);
  }
  if (storageClassName) {
    yield* refusals(`${path}.storageClassName`, storageClassName, validateDns1123Subdomain(storageClassName));
  }
  if (volumeMode !== undefined) yield* oneOf(`${path}.volumeMode`, volumeMode, volumeModes);
  yield* validateSources(spec, path);
}

function isSharedMode(mode: string): boolean {
  return mode !== 'ReadWriteOncePod' && accessModes.includes(mode);
}

function* validateSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: string): Generator<Cause> {
  if (dataSource) yield* validateSource(dataSource, `${path}.dataSource`);
  if (dataSourceRef) {
    yield* validateSource(dataSourceRef, `${path}.dataSourceRef`);
    const { namespace } = dataSourceRef;
    if (namespace) yield* refusals(`${path}.dataSourceRef.namespace`, namespace, validateDns1123Label(namespace));
  }
  if (!dataSource || !dataSourceRef) return;
  if (dataSourceRef.namespace) {
    yield invalidStructure(
      path,
      'field.Path',
      { name: 'dataSource' },
      'may not be specified when dataSourceRef.namespace is specified',
    );
  } else if (!isSame({ ...dataSource }, withoutNamespace(dataSourceRef))) {
    yield invalidStructure(path, 'field.Path', { name: 'dataSource' }, 'must match dataSourceRef');
  }
}

function withoutNamespace({ apiGroup, kind, name }: TypedObjectReference): unknown {
  return { apiGroup, kind, name };
}

function* validateSource(source: TypedLocalObjectReference | TypedObjectReference, path: string): Generator<Cause> {
  const { apiGroup, kind, name } = source;
  if (!name) yield required(`${path}.name`);
  if (!kind) yield required(`${path}.kind`);
  if (apiGroup) yield* refusals(`${path}.apiGroup`, apiGroup, validateDns1123Subdomain(apiGroup));
  else if (kind !== 'PersistentVolumeClaim') {
    yield invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
}

/**
 * Validates an update. Errors of the object are reported twice, as in Kubernetes: once for the creation rules and once
 * for the update rules.
 */
export function* validatePersistentVolumeClaimUpdate(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): Generator<Cause> {
  yield* validatePersistentVolumeClaim(claim);
  yield* validateKindMetaUpdate(claim.metadata, old.metadata);
  yield* validatePersistentVolumeClaim(claim);
  const [spec, before] = [claim.spec ?? {}, old.spec ?? {}];
  const takesOverAnnotation = isClassFromAnnotation(claim, old);
  if (!takesOverAnnotation) {
    const annotation = claim.metadata.annotations?.[storageClassAnnotation] ?? '';
    if (annotation !== (old.metadata.annotations?.[storageClassAnnotation] ?? '')) {
      yield invalid(`metadata.annotations.${storageClassAnnotation}`, annotation, isImmutable);
    }
  }
  if (!isSame(withoutMutable(claim, old, takesOverAnnotation), before)) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    yield forbidden('spec', detail);
  }
  const size = storageOf(spec.resources?.requests);
  if (compareQuantities(size, storageOf(before.resources?.requests)) < 0) {
    if (compareQuantities(size, storageOf(old.status?.capacity)) <= 0) {
      yield forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity');
    }
  }
  if (spec.volumeMode !== before.volumeMode) yield invalid('volumeMode', orNull(spec.volumeMode), isImmutable);
  if (spec.volumeAttributesClassName !== before.volumeAttributesClassName) {
    const detail = 'update is forbidden when the VolumeAttributesClass feature gate is disabled';
    yield forbidden('spec.volumeAttributesClassName', detail);
  }
}

function storageOf(list: { readonly [name: string]: string } | undefined) {
  const storage = list?.['storage'];
  return storage === undefined ? zeroQuantity : parseQuantity(storage);
}

/** Returns the new spec with the old values of its mutable fields. */
function withoutMutable(
  { spec = {}, status }: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  takesOverAnnotation: boolean,
): PersistentVolumeClaimSpec {
  const before = old.spec ?? {};
  const kept: { -readonly [K in keyof PersistentVolumeClaimSpec]: PersistentVolumeClaimSpec[K] } = {
    ...spec,
  };
  if (!before.volumeName) delete kept.volumeName;
  if (takesOverAnnotation || isClassFirstGiven(spec, old)) delete kept.storageClassName;
  if (status?.phase !== 'Bound') return kept;
  const requests = spec.resources?.requests;
  if (requests) {
    const { storage: _, ...others } = requests;
    const storage = before.resources?.requests?.['storage'];
    kept.resources = { ...spec.resources, requests: { ...others, ...(storage === undefined ? {} : { storage }) } };
  }
  return kept;
}

/** Reports whether the class moves from the annotation to the field without a change. */
function isClassFromAnnotation({ metadata, spec }: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const before = old.metadata.annotations?.[storageClassAnnotation];
  const now = metadata.annotations?.[storageClassAnnotation];
  if (before === undefined || old.spec?.storageClassName !== undefined) return false;
  return spec?.storageClassName === before && (now === undefined || now === before);
}

/** Reports whether a PVC without a class gets one: a default class may be set retroactively. */
function isClassFirstGiven(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaim): boolean {
  const annotation = old.metadata.annotations?.[storageClassAnnotation];
  if (spec.storageClassName === undefined || old.spec?.storageClassName !== undefined) return false;
  return annotation === undefined || spec.storageClassName === annotation;
}

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

export function* validatePersistentVolumeClaimStatusUpdate(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): Generator<Cause> {
  yield* validateKindMetaUpdate(claim.metadata, old.metadata);
  if (!claim.metadata.resourceVersion) yield required('resourceVersion');
  if ((claim.spec?.accessModes ?? []).length === 0) yield required('Spec.accessModes');
  const { capacity, allocatedResourceStatuses, allocatedResources } = claim.status ?? {};
  for (const name in capacity) yield* validateAmount(capacity[name]!, `status.capacity[${name}]`);
  for (const name in allocatedResourceStatuses) {
    yield* validateResourceKey(name, 'status.allocatedResourceStatus');
    if (!resizeStatuses.includes(allocatedResourceStatuses[name]!)) {
      yield unsupportedBare('status.allocatedResourceStatus', name, resizeStatuses);
    }
  }
  for (const name in allocatedResources) {
    const faults = [...validateResourceKey(name, 'status.allocatedResources')];
    if (faults.length > 0) yield* faults;
    else yield* validateAmount(allocatedResources[name]!, `status.allocatedResources[${name}]`);
  }
}

function* validateAmount(quantity: string, path: string): Generator<Cause> {
  const value = wrappedValue(parseQuantity(quantity));
  if (value < 0n) yield invalid(path, value, 'must be a valid resource quantity');
}

function* validateResourceKey(name: string, path: string): Generator<Cause> {
  const faults = validateQualifiedName(name);
  if (faults.length > 0) yield* refusals(path, name, faults);
  else if (isNativeResource(name) && name !== 'storage') yield* oneOf(path, name, ['storage']);
}
