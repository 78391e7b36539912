import type { Draft } from '@kruise/schema/draft';
import { type Cause, duplicate, invalid, notSupported, required } from '@kruise/schema/field-error';
import { invalidBare } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, oneOf, orNull } from '../meta/value.validate.ts';
import type { CSIDriver, CSIDriverSpec, TokenRequest } from './csidriver.ts';

const lifecycleModes = ['Persistent', 'Ephemeral'];
const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

export function defaultCSIDriver(driver: Draft<CSIDriver>): void {
  const spec = (driver.spec ??= {});
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent'];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}

/** Drops nodeAllocatableUpdatePeriodSeconds, a feature that is disabled in v1.33. */
export function prepareCSIDriver({ spec }: Draft<CSIDriver>, old?: CSIDriver): void {
  if (old?.spec?.nodeAllocatableUpdatePeriodSeconds === undefined) delete spec?.nodeAllocatableUpdatePeriodSeconds;
}

export function* validateCSIDriver({ metadata, spec = {} }: CSIDriver): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  yield* validateSpec(spec);
}

function* validateSpec(spec: CSIDriverSpec): Generator<Cause> {
  const { attachRequired, podInfoOnMount, storageCapacity, fsGroupPolicy, seLinuxMount } = spec;
  if (attachRequired === undefined) yield required('spec.attachedRequired');
  if (podInfoOnMount === undefined) yield required('spec.podInfoOnMount');
  if (storageCapacity === undefined) yield required('spec.storageCapacity');
  if (fsGroupPolicy !== undefined) {
    yield* oneOf('spec.fsGroupPolicy', fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType']);
  }
  yield* validateTokenRequests(spec.tokenRequests ?? []);
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!lifecycleModes.includes(mode)) yield notSupported('spec.volumeLifecycleModes', mode, lifecycleModes);
  }
  if (seLinuxMount === undefined) yield required('spec.seLinuxMount');
  const period = spec.nodeAllocatableUpdatePeriodSeconds;
  if (period !== undefined && Number(period) < 10) {
    yield invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, 'must be greater than or equal to 10 seconds');
  }
}

function* validateTokenRequests(requests: readonly TokenRequest[]): Generator<Cause> {
  const audiences = new Set<string>();
  for (const [index, { audience, expirationSeconds }] of requests.entries()) {
    const path = `spec.tokenRequests[${index}]`;
    if (audiences.has(audience)) {
      yield duplicate(`${path}.audience`, audience);
      continue;
    }
    audiences.add(audience);
    if (expirationSeconds === undefined) continue;
    const at = `${path}.expirationSeconds`;
    if (Number(expirationSeconds) < minTokenSeconds) {
      yield invalid(at, expirationSeconds, 'may not specify a duration less than 10 minutes');
    }
    if (Number(expirationSeconds) > maxTokenSeconds) {
      yield invalid(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds');
    }
  }
}

export function* validateCSIDriverUpdate({ metadata, spec = {} }: CSIDriver, old: CSIDriver): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateSpec(spec);
  if (spec.attachRequired !== old.spec?.attachRequired) {
    yield invalid('spec.attachedRequired', orNull(spec.attachRequired), isImmutable);
  }
  const modes = spec.volumeLifecycleModes ?? [];
  if (!isSame(modes, old.spec?.volumeLifecycleModes ?? [])) {
    const shown = `[]storage.VolumeLifecycleMode{${modes.map((mode) => JSON.stringify(mode)).join(', ')}}`;
    yield invalidBare('spec.volumeLifecycleModes', shown, isImmutable);
  }
}
