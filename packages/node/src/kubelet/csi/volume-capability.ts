/** Pure decisions about CSI volumes: access modes, ownership, and the context of a Pod. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { PersistentVolumeSpec } from '@kruise/api/core/persistentvolume';
import type { Pod } from '@kruise/api/core/pod';
import type { CSIDriver } from '@kruise/api/storage/csidriver';
import type { CsiCapability } from './csi-client.ts';
import { VolumeCapability_AccessMode_Mode as Mode, type VolumeCapabilitySchema } from './generated/csi_pb.ts';

type VolumeCapability = MessageInitShape<typeof VolumeCapabilitySchema>;

/** Returns the access mode of a volume, as a driver with the given abilities knows it. */
export function accessModeOf(
  { accessModes = [] }: Pick<PersistentVolumeSpec, 'accessModes'>,
  capabilities: ReadonlySet<CsiCapability>,
): Mode {
  const distinguishes = capabilities.has('singleNodeMultiWriter');
  switch (accessModes[0]) {
    case 'ReadOnlyMany':
      return Mode.MULTI_NODE_READER_ONLY;
    case 'ReadWriteMany':
      return Mode.MULTI_NODE_MULTI_WRITER;
    case 'ReadWriteOncePod':
      return distinguishes ? Mode.SINGLE_NODE_SINGLE_WRITER : Mode.SINGLE_NODE_WRITER;
    default:
      return distinguishes ? Mode.SINGLE_NODE_MULTI_WRITER : Mode.SINGLE_NODE_WRITER;
  }
}

/** Returns the capability of a mounted volume. */
export function mountCapability(
  mode: Mode,
  mount: { readonly fsType: string; readonly mountFlags: readonly string[]; readonly group: string },
): VolumeCapability {
  const { fsType, mountFlags, group } = mount;
  const value = { fsType, mountFlags: [...mountFlags], volumeMountGroup: group };
  return { accessType: { case: 'mount', value }, accessMode: { mode } };
}

/** A CSI volume whose group the kubelet may have to set. */
export type GroupInputs = {
  readonly policy: string | undefined;
  readonly fsType: string;
  readonly accessModes: readonly string[];
  readonly isReadOnly: boolean;
};

/** Reports whether the kubelet changes the group of a volume. With the default policy, its type and access modes decide. */
export function shouldSetGroup({ policy, fsType, accessModes, isReadOnly }: GroupInputs): boolean {
  if (isReadOnly || policy === 'None') return false;
  if (policy === 'File') return true;
  // Other nodes may use a shared volume at the same time, with other groups.
  const isExclusive = accessModes.includes('ReadWriteOnce') || accessModes.includes('ReadWriteOncePod');
  return fsType !== '' && isExclusive;
}

/** Returns what a driver that asks for it learns about the Pod. */
export function podInfoOf(
  { metadata, spec }: Pod,
  driver: CSIDriver | undefined,
  isEphemeral: boolean,
): Record<string, string> {
  if (!driver?.spec.podInfoOnMount) return {};
  return {
    'csi.storage.k8s.io/pod.name': metadata.name ?? '',
    'csi.storage.k8s.io/pod.namespace': metadata.namespace ?? '',
    'csi.storage.k8s.io/pod.uid': metadata.uid ?? '',
    'csi.storage.k8s.io/serviceAccount.name': spec?.serviceAccountName || 'default',
    'csi.storage.k8s.io/ephemeral': String(isEphemeral),
  };
}

/** Throws unless a driver supports volumes of a lifecycle. Without a CSIDriver object, only persistent ones. */
export function checkLifecycle(name: string, driver: CSIDriver | undefined, mode: 'Persistent' | 'Ephemeral'): void {
  const modes = driver?.spec.volumeLifecycleModes ?? [];
  const supported = modes.length === 0 ? ['Persistent'] : modes;
  if (supported.includes(mode)) return;
  const list = JSON.stringify(supported).replaceAll(',', ' ');
  throw new Error(`volume mode ${JSON.stringify(mode)} not supported by driver ${name} (only supports ${list})`);
}
