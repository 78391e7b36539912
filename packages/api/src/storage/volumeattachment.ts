import * as s from '@kruise/schema';
import { persistentVolumeSpec } from '../core/persistentvolume.ts';
import { kind } from '../meta/kind.ts';

export const volumeAttachmentSource = s.object(
  'io.k8s.api.storage.v1.VolumeAttachmentSource',
  'What is attached; exactly one.',
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
  'What is to be attached where. Cannot be changed.',
  {
    attacher: s.required(1, s.string(), 'Name of the driver that does it.'),
    source: s.required(2, volumeAttachmentSource, 'What is attached.'),
    nodeName: s.required(3, s.string(), 'The node it is attached to.'),
  },
);
export type VolumeAttachmentSpec = s.TypeOf<typeof volumeAttachmentSpec>;

export const volumeError = s.object('io.k8s.api.storage.v1.VolumeError', 'What went wrong.', {
  time: s.optional(1, s.time(), 'When it went wrong.'),
  message: s.optional(2, s.string(), 'What went wrong, for people. Holds no secrets.'),
  errorCode: s.pointer(3, s.int32(), 'The gRPC code of the driver. Of alpha quality, behind a feature gate.'),
});
export type VolumeError = s.TypeOf<typeof volumeError>;

export const volumeAttachmentStatus = s.object(
  'io.k8s.api.storage.v1.VolumeAttachmentStatus',
  'What became of an attachment.',
  {
    attached: s.required(1, s.boolean(), 'Whether it is attached.'),
    attachmentMetadata: s.optional(
      2,
      s.map(s.string()),
      'Metadata that the driver returned on attaching, for mounting.',
    ),
    attachError: s.pointer(3, volumeError, 'What went wrong in attaching.'),
    detachError: s.pointer(4, volumeError, 'What went wrong in detaching.'),
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
      spec: s.required(2, volumeAttachmentSpec, 'What is to be attached where.'),
      status: s.optional(3, volumeAttachmentStatus, 'What became of it.'),
    },
  },
);
export type VolumeAttachment = s.TypeOf<typeof volumeAttachment>;
