import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const tokenRequest = s.object('io.k8s.api.storage.v1.TokenRequest', 'A token a driver wants.', {
  audience: s.required(1, s.string(), 'Audience of the token. Empty: the API server.'),
  expirationSeconds: s.pointer(
    2,
    s.int64(),
    'How long it is good for. Unset: as the server decides, an hour by default.',
  ),
});
export type TokenRequest = s.TypeOf<typeof tokenRequest>;

export const csiDriverSpec = s.object('io.k8s.api.storage.v1.CSIDriverSpec', 'What a driver needs.', {
  attachRequired: s.pointer(
    1,
    s.boolean(),
    'Whether volumes must be attached to a node before they are mounted. Default true. Cannot be changed.',
  ),
  podInfoOnMount: s.pointer(
    2,
    s.boolean(),
    'Whether to pass Pod information to the driver when mounting. Default false.',
  ),
  volumeLifecycleModes: s.optional(
    3,
    s.set(s.string({ goType: 'v1.VolumeLifecycleMode' })),
    'Persistent (the default), for claims, and Ephemeral, for volumes written out in a Pod. Cannot be changed.',
  ),
  storageCapacity: s.pointer(
    4,
    s.boolean(),
    'Whether the scheduler uses the capacity that the driver reports in CSIStorageCapacity objects. Default false.',
  ),
  fsGroupPolicy: s.pointer(
    5,
    s.string({ goType: 'v1.FSGroupPolicy' }),
    'Whether volumes are handed to fsGroup: ReadWriteOnceWithFSType (the default) if they have a file system and mode ReadWriteOnce, File always, None never.',
  ),
  tokenRequests: s.optional(
    6,
    s.atomicList(tokenRequest),
    "Tokens of the Pod's service account to hand it when mounting.",
  ),
  requiresRepublish: s.pointer(
    7,
    s.boolean(),
    'Whether to call it now and then to renew what is mounted. Default false.',
  ),
  seLinuxMount: s.pointer(8, s.boolean(), 'Whether volumes can be mounted with an SELinux label. Default false.'),
  nodeAllocatableUpdatePeriodSeconds: s.pointer(
    9,
    s.int64(),
    'Every how many seconds to ask it how many volumes a node takes; at least 10. Unset: never again. Of alpha quality, behind a feature gate.',
  ),
});
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
      spec: s.required(2, csiDriverSpec, 'What it needs.'),
    },
  },
);
export type CSIDriver = s.TypeOf<typeof csiDriver>;
