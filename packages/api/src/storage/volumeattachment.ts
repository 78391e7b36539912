import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { persistentVolumeSpec } from '../core/persistentvolume.ts';

export const volumeAttachmentSource = s.object('io.k8s.api.storage.v1.VolumeAttachmentSource', '', {
  persistentVolumeName: s.pointer(1, s.string(), ''),
  inlineVolumeSpec: s.pointer(2, persistentVolumeSpec, ''),
});
export type VolumeAttachmentSource = s.TypeOf<typeof volumeAttachmentSource>;

export const volumeAttachmentSpec = s.object('io.k8s.api.storage.v1.VolumeAttachmentSpec', '', {
  attacher: s.required(1, s.string(), ''),
  source: s.required(2, volumeAttachmentSource, ''),
  nodeName: s.required(3, s.string(), ''),
});
export type VolumeAttachmentSpec = s.TypeOf<typeof volumeAttachmentSpec>;

export const volumeError = s.object('io.k8s.api.storage.v1.VolumeError', '', {
  time: s.optional(1, s.time(), ''),
  message: s.optional(2, s.string(), ''),
  errorCode: s.pointer(3, s.int32(), ''),
});
export type VolumeError = s.TypeOf<typeof volumeError>;

export const volumeAttachmentStatus = s.object('io.k8s.api.storage.v1.VolumeAttachmentStatus', '', {
  attached: s.required(1, s.boolean(), ''),
  attachmentMetadata: s.optional(2, s.map(s.string()), ''),
  attachError: s.pointer(3, volumeError, ''),
  detachError: s.pointer(4, volumeError, ''),
});
export type VolumeAttachmentStatus = s.TypeOf<typeof volumeAttachmentStatus>;

export const volumeAttachment = kind('io.k8s.api.storage.v1.VolumeAttachment', '', {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  subresources: ['status'],
  fields: {
    spec: s.required(2, volumeAttachmentSpec, ''),
    status: s.optional(3, volumeAttachmentStatus, ''),
  },
});
export type VolumeAttachment = s.TypeOf<typeof volumeAttachment>;
