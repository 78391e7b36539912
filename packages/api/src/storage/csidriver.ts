import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const tokenRequest = s.object('io.k8s.api.storage.v1.TokenRequest', 'Token that a driver requires.', {
  audience: s.required(1, s.string(), 'Audience of the token. Empty: the API server.'),
  expirationSeconds: s.pointer(
    2,
    s.int64(),
    'Lifetime of the token in seconds. Unset: chosen by the server, an hour by default.',
  ),
});
export type TokenRequest = s.TypeOf<typeof tokenRequest>;

export const csiDriverSpec = s.object(
  'io.k8s.api.storage.v1.CSIDriverSpec',
  'Specification: features and requirements of a driver.',
  {
    attachRequired: s.pointer(
      1,
      s.boolean(),
      'Volumes must be attached to a node before they are mounted. Default true. Immutable.',
    ),
    podInfoOnMount: s.pointer(
      2,
      s.boolean(),
      'Passes information about the Pod to the driver when it mounts a volume. Default false.',
    ),
    volumeLifecycleModes: s.optional(
      3,
      s.set(s.string({ goType: 'v1.VolumeLifecycleMode' })),
      'Persistent (the default), for claims, and Ephemeral, for volumes written out in a Pod. Cannot be changed.',
    ),
    storageCapacity: s.pointer(
      4,
      s.boolean(),
      'The scheduler considers the capacity that the driver reports in CSIStorageCapacity objects. Default false.',
    ),
    fsGroupPolicy: s.pointer(
      5,
      s.string({ goType: 'v1.FSGroupPolicy' }),
      'Change of ownership to fsGroup: ReadWriteOnceWithFSType (the default) for volumes with a file system and mode ReadWriteOnce, File always, None never.',
    ),
    tokenRequests: s.optional(
      6,
      s.atomicList(tokenRequest),
      "Tokens of the Pod's service account that are passed to the driver when it mounts a volume.",
    ),
    requiresRepublish: s.pointer(
      7,
      s.boolean(),
      'Calls the driver periodically to refresh mounted volumes. Default false.',
    ),
    seLinuxMount: s.pointer(8, s.boolean(), 'Support of mounting with an SELinux label. Default false.'),
    nodeAllocatableUpdatePeriodSeconds: s.pointer(
      9,
      s.int64(),
      'Interval in seconds at which the limit of volumes on a node is updated; at least 10. Unset: only at registration. Alpha, behind a feature gate.',
    ),
  },
);
export type CSIDriverSpec = s.TypeOf<typeof csiDriverSpec>;

export const csiDriver = kind(
  'io.k8s.api.storage.v1.CSIDriver',
  'A CSI driver of the cluster. Has the name the driver calls itself.',
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'CSIDriver',
    plural: 'csidrivers',
    scope: 'Cluster',
    fields: {
      spec: s.required(2, csiDriverSpec, 'Specification: features and requirements of the driver.'),
    },
  },
);
export type CSIDriver = s.TypeOf<typeof csiDriver>;
