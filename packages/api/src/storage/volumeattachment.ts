import * as s from '@kruise/schema';
import { persistentVolumeSpec } from '../core/persistentvolume.ts';
import { kind } from '../meta/kind.ts';

export const volumeAttachmentSource = s.object(
  'io.k8s.api.storage.v1.VolumeAttachmentSource',
  'Volume to attach; exactly one source.',
  {
    persistentVolumeName: s.pointer(1, s.string(), 'Name of the PersistentVolume.'),
    inlineVolumeSpec: s.pointer(
      2,
      persistentVolumeSpec,
      'The volume itself, for volumes in the tree that moved to CSI.',
    ),
  },
);
export type VolumeAttachmentSource = s.TypeOf<typeof volumeAttachmentSource>;

export const volumeAttachmentSpec = s.object(
  'io.k8s.api.storage.v1.VolumeAttachmentSpec',
  'Specification: volume, node and attacher. Immutable.',
  {
    attacher: s.required(1, s.string(), 'Name of the driver that attaches the volume.'),
    source: s.required(2, volumeAttachmentSource, 'Volume to attach.'),
    nodeName: s.required(3, s.string(), 'Name of the node.'),
  },
);
export type VolumeAttachmentSpec = s.TypeOf<typeof volumeAttachmentSpec>;

export const volumeError = s.object('io.k8s.api.storage.v1.VolumeError', 'Error of an attach or detach operation.', {
  time: s.optional(1, s.time(), 'Time of the error.'),
  message: s.optional(2, s.string(), 'Error message. Must not contain secrets.'),
  errorCode: s.pointer(3, s.int32(), 'The gRPC code of the driver. Of alpha quality, behind a feature gate.'),
});
export type VolumeError = s.TypeOf<typeof volumeError>;

export const volumeAttachmentStatus = s.object(
  'io.k8s.api.storage.v1.VolumeAttachmentStatus',
  'Status of an attachment.',
  {
    attached: s.required(1, s.boolean(), 'The volume is attached.'),
    attachmentMetadata: s.optional(
      2,
      s.map(s.string()),
      'Metadata that the driver returned on attaching, for mounting.',
    ),
    attachError: s.pointer(3, volumeError, 'Last error of the attach operation.'),
    detachError: s.pointer(4, volumeError, 'Last error of the detach operation.'),
  },
);
export type VolumeAttachmentStatus = s.TypeOf<typeof volumeAttachmentStatus>;

export const volumeAttachment = kind(
  'io.k8s.api.storage.v1.VolumeAttachment',
  'Attaches a volume to a node; deleting it detaches.',
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    scope: 'Cluster',
    subresources: ['status'],
    fields: {
      spec: s.required(2, volumeAttachmentSpec, 'Specification: volume, node and attacher.'),
      status: s.optional(3, volumeAttachmentStatus, 'Status of the attachment.'),
    },
  },
);
export type VolumeAttachment = s.TypeOf<typeof volumeAttachment>;
