import { ageColumn, flag, integer, type Loose, nameColumn, tableOfColumns, text, wide } from './cells.ts';
import type { TableColumns } from './table.ts';

const terminatingOr = (object: Loose, otherwise: string): string =>
  object.metadata.deletionTimestamp ? 'Terminating' : otherwise;

const modeNames: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(modes: readonly string[] | undefined): string {
  return modeNames
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

const betaClass = 'volume.beta.kubernetes.io/storage-class';

const storageClass = ({ metadata, spec }: Loose) => metadata.annotations?.[betaClass] ?? spec?.storageClassName ?? '';

const defaultClass = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const storageTables: { readonly [kind: string]: TableColumns } = {
  PersistentVolume: tableOfColumns([
    nameColumn,
    text('Capacity', 'How much it holds.', ({ spec }) => spec?.capacity?.storage ?? ''),
    text('Access Modes', 'How it can be mounted.', ({ spec }) => accessModes(spec?.accessModes)),
    text(
      'Reclaim Policy',
      'What becomes of it when its claim goes.',
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    text('Status', 'Whether it is free, taken or going.', (volume) =>
      terminatingOr(volume, volume.status?.phase ?? ''),
    ),
    text('Claim', 'The claim it is bound to.', ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    ),
    text('StorageClass', 'Its class.', storageClass),
    text(
      'VolumeAttributesClass',
      'The class of its attributes.',
      ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    text('Reason', 'Why it is in its status.', ({ status }) => status?.reason ?? ''),
    ageColumn,
    wide(text('VolumeMode', 'Whether it has a file system.', ({ spec }) => spec?.volumeMode ?? '<unset>')),
  ]),
  PersistentVolumeClaim: tableOfColumns([
    nameColumn,
    text('Status', 'Whether it is bound.', (claim) => terminatingOr(claim, claim.status?.phase ?? '')),
    text('Volume', 'The volume it is bound to.', ({ spec }) => spec?.volumeName ?? ''),
    text('Capacity', 'How much the volume holds.', ({ spec, status }) =>
      spec?.volumeName ? (status?.capacity?.storage ?? '0') : '',
    ),
    text('Access Modes', 'How the volume can be mounted.', ({ spec, status }) =>
      spec?.volumeName ? accessModes(status?.accessModes) : '',
    ),
    text('StorageClass', 'The class asked for.', storageClass),
    text(
      'VolumeAttributesClass',
      'The class of attributes asked for.',
      ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    ageColumn,
    wide(text('VolumeMode', 'Whether the volume has a file system.', ({ spec }) => spec?.volumeMode ?? '<unset>')),
  ]),
  StorageClass: tableOfColumns([
    {
      ...nameColumn,
      cell: ({ metadata }) =>
        defaultClass.some((key) => metadata.annotations?.[key] === 'true')
          ? `${metadata.name} (default)`
          : metadata.name,
    },
    text('Provisioner', 'What makes its volumes.', ({ provisioner }) => provisioner ?? ''),
    text(
      'ReclaimPolicy',
      'What becomes of a volume when its claim goes.',
      ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
    ),
    text('VolumeBindingMode', 'When a volume is made.', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
    text(
      'AllowVolumeExpansion',
      'Whether volumes can grow.',
      ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    ),
    ageColumn,
  ]),
  VolumeAttachment: tableOfColumns([
    nameColumn,
    { ...text('Attacher', 'What attaches it.', ({ spec }) => spec?.attacher ?? ''), format: 'name' },
    text('PV', 'The volume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    text('Node', 'The node.', ({ spec }) => spec?.nodeName ?? ''),
    flag('Attached', 'Whether it is attached.', ({ status }) => status?.attached ?? false),
    ageColumn,
  ]),
  CSINode: tableOfColumns([
    nameColumn,
    integer('Drivers', 'How many drivers the node has.', ({ spec }) => (spec?.drivers ?? []).length),
    ageColumn,
  ]),
  CSIDriver: tableOfColumns([
    nameColumn,
    flag(
      'AttachRequired',
      'Whether volumes are attached before they are mounted.',
      ({ spec }) => spec?.attachRequired ?? true,
    ),
    flag('PodInfoOnMount', 'Whether the driver is told of the Pod.', ({ spec }) => spec?.podInfoOnMount ?? false),
    flag(
      'StorageCapacity',
      'Whether the driver says how much room there is.',
      ({ spec }) => spec?.storageCapacity ?? false,
    ),
    text('TokenRequests', 'Whom the driver gets tokens for.', ({ spec }) => {
      const requests: Loose[] = spec?.tokenRequests ?? [];
      return requests.length === 0 ? '<unset>' : requests.map(({ audience }) => audience).join(',');
    }),
    flag('RequiresRepublish', 'Whether mounts are renewed.', ({ spec }) => spec?.requiresRepublish ?? false),
    text(
      'Modes',
      'What kinds of volumes it makes.',
      ({ spec }) => (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
    ),
    ageColumn,
  ]),
};
