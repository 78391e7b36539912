import type { Draft } from '@kruise/schema/draft';
import { type Cause, forbidden, invalid, required, tooLong } from '@kruise/schema/field-error';
import { validateDns1123Subdomain } from '@kruise/values/names';
import { validatePersistentVolumeSpec } from '../core/persistentvolume.validate.ts';
import { validateCSIDriverName } from '../core/volume.validate.ts';
import { invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, refusals } from '../meta/value.validate.ts';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from './volumeattachment.ts';

const maxMetadataBytes = 256 * 1024;
const maxMessageLength = 1024;

/** Drops error codes, a feature that is disabled in v1.33. */
export function prepareVolumeAttachmentStatusUpdate({ status }: Draft<VolumeAttachment>, old: VolumeAttachment): void {
  for (const field of ['attachError', 'detachError'] as const) {
    if (old.status?.[field]?.errorCode === undefined) delete status?.[field]?.errorCode;
  }
}

export function* validateVolumeAttachment(attachment: VolumeAttachment): Generator<Cause> {
  yield* validateWhole(attachment);
  const { attacher, source } = attachment.spec;
  yield* validateCSIDriverName(attacher, 'spec.attacher');
  const { persistentVolumeName: name } = source;
  if (name !== undefined) yield* refusals('spec.source.persistentVolumeName', name, validateDns1123Subdomain(name));
}

function* validateWhole({ metadata, spec, status }: VolumeAttachment): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  if (!spec.attacher) yield required('spec.attacher');
  yield* validateSource(spec.source, 'spec.source');
  yield* refusals('spec.nodeName', spec.nodeName, validateDns1123Subdomain(spec.nodeName));
  let totalBytes = 0;
  for (const [key, value] of Object.entries(status?.attachmentMetadata ?? {})) {
    totalBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (totalBytes > maxMetadataBytes) yield tooLong('status.attachmentMetadata', maxMetadataBytes);
  yield* validateError(status?.attachError, 'status.attachError');
  yield* validateError(status?.detachError, 'status.detachError');
}

function* validateSource(source: VolumeAttachmentSource, path: string): Generator<Cause> {
  const { inlineVolumeSpec, persistentVolumeName } = source;
  const oneOfThem = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inlineVolumeSpec) {
    if (persistentVolumeName !== undefined) yield forbidden(path, oneOfThem);
    else {
      yield* validatePersistentVolumeSpec(inlineVolumeSpec, '', { path: `${path}.inlineVolumeSpec`, isInline: true });
    }
  } else if (persistentVolumeName === undefined) yield required(path, oneOfThem);
  else if (persistentVolumeName === '') {
    yield required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName');
  }
}

function* validateError(error: VolumeError | undefined, path: string): Generator<Cause> {
  if (Buffer.byteLength(error?.message ?? '') > maxMessageLength) yield tooLong(`${path}.message`, maxMetadataBytes);
  if (error?.errorCode !== undefined && error.errorCode < 0) {
    yield invalid(`${path}.errorCode`, error.errorCode, 'must be between 0 and 2147483647, inclusive');
  }
}

export function* validateVolumeAttachmentUpdate(attachment: VolumeAttachment, old: VolumeAttachment): Generator<Cause> {
  // Reported twice, as in Kubernetes.
  yield* validateWhole(attachment);
  yield* validateWhole(attachment);
  if (!isSame(attachment.spec, old.spec)) {
    yield invalidStructure('spec', 'storage.VolumeAttachmentSpec', attachment.spec, isImmutable);
  }
}
