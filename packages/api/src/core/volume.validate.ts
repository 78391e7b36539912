import { type Cause, duplicate, forbidden, invalid, notSupported, required, tooLong } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import { validateDns1123Label, validateDns1123Subdomain, validateInRange } from '@kruise/values/names';
import { invalidStructure } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { validateAnnotations, validateLabels } from '../meta/labels.validate.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { oneOf, refusals } from '../meta/value.validate.ts';
import { endsWithQualifiedName } from './iscsi-name.ts';
import { validateDescendingPath, validateFilePath, validateMode, validateNoBacksteps } from './path.validate.ts';
import { validatePersistentVolumeClaimSpec } from './persistentvolumeclaim.validate.ts';
import { isNegative } from './resources.validate.ts';
import { validateFieldRef, validateResourceFieldRef } from './value-source.validate.ts';
import type {
  AzureDiskVolumeSource,
  ClusterTrustBundleProjection,
  CSIVolumeSource,
  DownwardAPIVolumeFile,
  EphemeralVolumeSource,
  FCVolumeSource,
  ISCSIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
  Volume,
  VolumeProjection,
  VolumeSource,
} from './volume.ts';

export type ValidVolumes = ReadonlyMap<string, Volume>;

/** Yields the errors of a Pod's volumes, and returns the valid ones, which containers may mount. */
export function* validateVolumes(
  volumes: readonly Volume[],
  podName: string | undefined,
  path: string,
): Generator<Cause, ValidVolumes> {
  const valid = new Map<string, Volume>();
  const claimsToBe = new Set<string>();
  if (podName) for (const { name, ephemeral } of volumes) if (ephemeral) claimsToBe.add(`${podName}-${name}`);
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    let isValid = true;
    for (const cause of validateVolume(volume, podName, valid, at)) {
      isValid = false;
      yield cause;
    }
    if (isValid) valid.set(volume.name, volume);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && claimsToBe.has(claimName)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      yield invalid(`${at}.persistentVolumeClaim.claimName`, claimName, detail);
    }
  }
  return valid;
}

function* validateVolume(
  volume: Volume,
  podName: string | undefined,
  earlier: ValidVolumes,
  path: string,
): Generator<Cause> {
  yield* validateSource(volume, podName, path);
  if (volume.name) yield* refusals(`${path}.name`, volume.name, validateDns1123Label(volume.name));
  else yield required(`${path}.name`);
  if (earlier.has(volume.name)) yield duplicate(`${path}.name`, volume.name);
}

function* validateSource(volume: Volume, podName: string | undefined, path: string): Generator<Cause> {
  const given = sourcesOf(volume);
  for (const [index, { name, check, path: own = name, pathIfSecond = name }] of given.entries()) {
    if (index > 0) yield forbidden(`${path}.${pathIfSecond}`, 'may not specify more than 1 volume type');
    else {
      yield* check(volume[name], `${path}.${own}`);
      if (name === 'ephemeral') yield* validateClaimName(volume.name, podName, path);
    }
    if (name === 'iscsi') yield* validateInitiatorLength(volume, path);
  }
  if (given.length === 0) yield required(path, 'must specify a volume type');
}

/** Returns the sources of a volume. Nearly all volumes have one, which needs no sorting. */
function sourcesOf(volume: Volume): readonly Source[] {
  const given: Source[] = [];
  for (const member in volume) {
    const source = sourcesByName.get(member);
    if (source) given.push(source);
  }
  return given.length < 2 ? given : sources.filter((source) => given.includes(source));
}

type Check<T> = (source: T, path: string) => Iterable<Cause>;
type SourceName = keyof VolumeSource;
type Source = {
  readonly name: SourceName;
  readonly check: Check<unknown>;
  /** The path for errors, if it differs from the name. */
  readonly path?: string;
  readonly pathIfSecond?: string;
};

function source<N extends SourceName>(
  name: N,
  check: Check<NonNullable<VolumeSource[N]>>,
  paths: Pick<Source, 'path' | 'pathIfSecond'> = {},
): Source {
  // The table is keyed by name, so each check gets only its own source.
  return { name, check: check as Check<unknown>, ...paths };
}

/** Returns a check that only requires some members. */
function needs<T>(...members: readonly (keyof T & string)[]): Check<T> {
  return function* (value, path) {
    for (const member of members) if (isMissing(value[member])) yield required(`${path}.${member}`);
  };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Sources in Kubernetes' order, with the paths that Kubernetes reports, including its mistakes. */
const sources: readonly Source[] = [
  source('emptyDir', function* ({ sizeLimit }, path) {
    if (sizeLimit !== undefined && isNegative(sizeLimit)) {
      yield forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
    }
  }),
  source('hostPath', function* ({ path: folder, type }, path) {
    if (!folder) {
      yield required(`${path}.path`);
      return;
    }
    yield* refusals(`${path}.path`, folder, validateNoBacksteps(folder));
    if (type !== undefined) yield* oneOf(`${path}.type`, type, hostPathTypes);
  }),
  source('gitRepo', function* (repo, path) {
    if (!repo.repository) yield required(`${path}.repository`);
    yield* refusals(`${path}.directory`, repo.directory ?? '', validateDescendingPath(repo.directory ?? ''));
  }),
  source(
    'gcePersistentDisk',
    function* ({ pdName, partition }, path) {
      if (!pdName) yield required(`${path}.pdName`);
      yield* validatePartition(partition, path);
    },
    { path: 'persistentDisk' },
  ),
  source('awsElasticBlockStore', function* ({ volumeID, partition }, path) {
    if (!volumeID) yield required(`${path}.volumeID`);
    yield* validatePartition(partition, path);
  }),
  source('secret', function* ({ secretName, defaultMode, items }, path) {
    if (!secretName) yield required(`${path}.secretName`);
    yield* refusals(`${path}.defaultMode`, defaultMode, validateMode(defaultMode));
    yield* validateItems(items, path);
  }),
  source('nfs', function* ({ server, path: folder }, path) {
    if (!server) yield required(`${path}.server`);
    if (!folder) yield required(`${path}.path`);
    if (!folder.startsWith('/')) yield invalid(`${path}.path`, folder, 'must be an absolute path');
  }),
  source('iscsi', validateISCSI),
  source('glusterfs', needs('endpoints', 'path')),
  source('flocker', function* ({ datasetName = '', datasetUUID = '' }, path) {
    if (!datasetName && !datasetUUID) yield required(path, 'one of datasetName and datasetUUID is required');
    if (datasetName && datasetUUID) {
      yield invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
    }
    if (datasetName.includes('/')) yield invalid(`${path}.datasetName`, datasetName, "must not contain '/'");
  }),
  source('persistentVolumeClaim', needs('claimName')),
  source('rbd', needs('monitors', 'image')),
  source('cinder', function* ({ volumeID, secretRef }, path) {
    if (!volumeID) yield required(`${path}.volumeID`);
    if (secretRef && !secretRef.name) yield required(`${path}.secretRef.name`);
  }),
  source('cephfs', needs('monitors'), { pathIfSecond: 'cephFS' }),
  source('quobyte', validateQuobyte),
  source(
    'downwardAPI',
    function* ({ defaultMode, items }, path) {
      yield* refusals(`${path}.defaultMode`, defaultMode, validateMode(defaultMode));
      for (const file of items ?? []) yield* validateDownwardFile(file, path);
    },
    { pathIfSecond: 'downwarAPI' },
  ),
  source('fc', validateFC),
  source('flexVolume', function* ({ driver, options }, path) {
    if (!driver) yield required(`${path}.driver`);
    for (const key in options) {
      const domain = `.${key.split('/', 2)[0]!.toLowerCase()}`;
      if (domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io')) {
        yield invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved');
      }
    }
  }),
  source('configMap', function* ({ name, defaultMode, items }, path) {
    if (!name) yield required(`${path}.name`);
    yield* refusals(`${path}.defaultMode`, defaultMode, validateMode(defaultMode));
    yield* validateItems(items, path);
  }),
  source('azureFile', needs('secretName', 'shareName')),
  source('vsphereVolume', needs('volumePath')),
  source('photonPersistentDisk', needs('pdID')),
  source('portworxVolume', needs('volumeID')),
  source('azureDisk', validateAzureDisk),
  source('storageos', validateStorageOS),
  source('projected', validateProjected),
  source('scaleIO', needs('gateway', 'system', 'volumeName')),
  source('csi', validateCSI),
  source('ephemeral', validateEphemeral),
];

const sourcesByName: ReadonlyMap<string, Source> = new Map(sources.map((source) => [source.name, source]));

/** Validates a volume source that Pods and PersistentVolumes have in common. */
export function validateVolumeSource(name: SourceName, value: unknown, path: string): Iterable<Cause> {
  const source = sourcesByName.get(name);
  return source ? source.check(value, path) : [];
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

function* validatePartition(partition = 0, path: string): Generator<Cause> {
  if (partition < 0 || partition > 255) {
    yield invalid(`${path}.partition`, partition, 'must be between 1 and 255, inclusive');
  }
}

function* validateItems(items: readonly KeyToPath[] | undefined, path: string): Generator<Cause> {
  for (const [index, item] of (items ?? []).entries()) yield* validateItem(item, `${path}.items[${index}]`);
}

function* validateItem({ key, path: file, mode }: KeyToPath, path: string): Generator<Cause> {
  if (!key) yield required(`${path}.key`);
  if (!file) yield required(`${path}.path`);
  yield* refusals(`${path}.path`, file, validateFilePath(file));
  yield* refusals(`${path}.mode`, mode, validateMode(mode));
}

const iscsiFormats: readonly (readonly [prefix: string, isValid: (name: string) => boolean])[] = [
  ['iqn', endsWithQualifiedName],
  ['eui', (name) => /^eui.[A-Za-z0-9]{16}$/.test(name)],
  ['naa', (name) => /^naa.[A-Za-z0-9]{32}$/.test(name)],
];

function* validateISCSI(iscsi: ISCSIVolumeSource, path: string): Generator<Cause> {
  if (!iscsi.targetPortal) yield required(`${path}.targetPortal`);
  if (iscsi.iqn) yield* validateQualifiedISCSIName(iscsi.iqn, `${path}.iqn`);
  else yield required(`${path}.iqn`);
  yield* refusals(`${path}.lun`, iscsi.lun, validateInRange(iscsi.lun, 0, 255));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) yield required(`${path}.secretRef`);
  if (iscsi.initiatorName !== undefined) {
    yield* validateQualifiedISCSIName(iscsi.initiatorName, `${path}.initiatorname`);
  }
}

function* validateQualifiedISCSIName(name: string, path: string): Generator<Cause> {
  const [, isValid] = iscsiFormats.find(([prefix]) => name.startsWith(prefix)) ?? [];
  if (!isValid) yield invalid(path, name, 'must be valid format starting with iqn, eui, or naa');
  else if (!isValid(name)) yield invalid(path, name, 'must be valid format');
}

function* validateInitiatorLength({ name, iscsi }: Volume, path: string): Generator<Cause> {
  if (iscsi?.initiatorName === undefined || Buffer.byteLength(`${name}:${iscsi.targetPortal}`) <= 64) return;
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  yield invalid(`${path}.name`, name, detail);
}

function* validateFC({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, path: string): Generator<Cause> {
  if (targetWWNs.length === 0 && wwids.length === 0) {
    yield required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    const detail = 'targetWWNs and wwids can not be specified simultaneously';
    yield invalid(`${path}.targetWWNs`, targetWWNs, detail);
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) yield required(`${path}.lun`, 'lun is required if targetWWNs is specified');
  else yield* refusals(`${path}.lun`, lun, validateInRange(lun, 0, 255));
}

function* validateQuobyte({ registry, tenant = '', volume }: QuobyteVolumeSource, path: string): Generator<Cause> {
  const shape = 'must be a host:port pair or multiple pairs separated by commas';
  if (!registry) yield required(`${path}.registry`, shape);
  else if (Buffer.byteLength(tenant) > 64) {
    yield required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of registry.split(',')) {
      if (!hostAndPort.test(pair)) yield invalid(`${path}.registry`, registry, shape);
    }
  }
  if (!volume) yield required(`${path}.volume`);
}

const hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

const azureCachingModes = ['None', 'ReadOnly', 'ReadWrite'];
const azureKinds = ['Dedicated', 'Managed', 'Shared'];

function* validateAzureDisk(
  { diskName, diskURI, cachingMode, kind }: AzureDiskVolumeSource,
  path: string,
): Generator<Cause> {
  if (!diskName) yield required(`${path}.diskName`);
  if (!diskURI) yield required(`${path}.diskURI`);
  if (cachingMode !== undefined) yield* oneOf(`${path}.cachingMode`, cachingMode, azureCachingModes);
  if (kind === undefined) return;
  yield* oneOf(`${path}.kind`, kind, azureKinds);
  if (kind === 'Managed') {
    if (!diskURI.startsWith('/subscriptions/')) yield notSupported(`${path}.diskURI`, diskURI, [managedDiskURI]);
  } else if (!diskURI.startsWith('https://')) yield notSupported(`${path}.diskURI`, diskURI, [blobDiskURI]);
}

const managedDiskURI =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobDiskURI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function* validateStorageOS(
  { volumeName, volumeNamespace, secretRef }: StorageOSVolumeSource,
  path: string,
): Generator<Cause> {
  if (volumeName) yield* refusals(`${path}.volumeName`, volumeName, validateDns1123Label(volumeName));
  else yield required(`${path}.volumeName`);
  if (volumeNamespace) {
    yield* refusals(`${path}.volumeNamespace`, volumeNamespace, validateDns1123Label(volumeNamespace));
  }
  if (secretRef && !secretRef.name) yield required(`${path}.secretRef.name`);
}

function* validateDownwardFile(file: DownwardAPIVolumeFile, path: string): Generator<Cause> {
  if (!file.path) yield required(`${path}.path`);
  yield* refusals(`${path}.path`, file.path, validateFilePath(file.path));
  if (file.fieldRef) {
    yield* validateFieldRef(file.fieldRef, 'volume', `${path}.fieldRef`);
    if (file.resourceFieldRef) {
      yield invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (file.resourceFieldRef) {
    yield* validateResourceFieldRef(file.resourceFieldRef, 'volume', `${path}.resourceFieldRef`);
  } else yield required(path, 'one of fieldRef and resourceFieldRef is required');
  yield* refusals(`${path}.mode`, file.mode, validateMode(file.mode));
}

function* validateProjected({ defaultMode, sources: parts }: ProjectedVolumeSource, path: string): Generator<Cause> {
  yield* refusals(`${path}.defaultMode`, defaultMode, validateMode(defaultMode));
  const files = new Set<string>();
  for (const [index, part] of (parts ?? []).entries()) {
    yield* validateProjection(part, files, path, `${path}.sources[${index}]`);
  }
}

function* validateProjection(
  part: VolumeProjection,
  files: Set<string>,
  volumePath: string,
  path: string,
): Generator<Cause> {
  for (const name of ['secret', 'configMap'] as const) {
    const source = part[name];
    if (source === undefined) continue;
    if (!source.name) yield required(`${path}.${name}.name`);
    for (const [index, item] of (source.items ?? []).entries()) {
      yield* validateItem(item, `${path}.${name}.items[${index}]`);
      yield* takeFile(files, item.path, source.name ?? '', volumePath);
    }
  }
  for (const file of part.downwardAPI?.items ?? []) {
    yield* validateDownwardFile(file, `${path}.downwardAPI`);
    yield* takeFile(files, file.path, file.path, volumePath);
  }
  if (part.serviceAccountToken) {
    const { expirationSeconds = 0, path: file } = part.serviceAccountToken;
    const field = `${path}.serviceAccountToken.expirationSeconds`;
    if (expirationSeconds < 600)
      yield invalid(field, expirationSeconds, 'may not specify a duration less than 10 minutes');
    if (expirationSeconds > 2 ** 32) {
      yield invalid(field, expirationSeconds, 'may not specify a duration larger than 2^32 seconds');
    }
    if (file) yield* refusals(`${volumePath}.path`, file, validateFilePath(file));
    else yield required(`${volumePath}.path`);
  }
  if (part.clusterTrustBundle) {
    yield* validateTrustBundle(part.clusterTrustBundle, `${path}.clusterTrustBundle`);
    yield* takeFile(files, part.clusterTrustBundle.path, part.clusterTrustBundle.path, volumePath);
  }
  if (Object.keys(part).length > 1) yield forbidden(path, 'may not specify more than 1 volume type per source');
}

/** Two sources must not provide the same file. The reported path is that of the second one. */
function* takeFile(files: Set<string>, file: string, named: string, path: string): Generator<Cause> {
  if (!file) return;
  if (files.has(file)) yield invalid(path, named, 'conflicting duplicate paths');
  files.add(file);
}

function* validateTrustBundle(bundle: ClusterTrustBundleProjection, path: string): Generator<Cause> {
  const { name, signerName, labelSelector, path: file } = bundle;
  if (name !== undefined && signerName !== undefined) {
    yield invalidStructure(
      path,
      'core.ClusterTrustBundleProjection',
      bundle,
      'only one of name and signerName may be used',
    );
  } else if (name !== undefined) {
    if (!name) yield required(`${path}.name`, 'must be a valid object name');
    if (labelSelector) {
      yield invalidStructure(
        `${path}.labelSelector`,
        'v1.LabelSelector',
        labelSelector,
        'labelSelector must be unset if name is specified',
      );
    }
  } else if (signerName !== undefined) {
    if (!signerName) yield required(`${path}.signerName`, 'must be a valid signer name');
    yield* validateLabelSelector(labelSelector, `${path}.labelSelector`);
  } else yield required(path, 'either name or signerName must be specified');
  if (!file) yield required(`${path}.path`);
  yield* refusals(`${path}.path`, file, validateFilePath(file));
}

const maxDriverNameLength = 63;

export function* validateCSIDriverName(driver: string, path: string): Generator<Cause> {
  if (!driver) yield required(path);
  if (Buffer.byteLength(driver) > maxDriverNameLength) yield tooLong(path, maxDriverNameLength);
  yield* refusals(path, driver, validateDns1123Subdomain(driver.toLowerCase()));
}

function* validateCSI({ driver, nodePublishSecretRef }: CSIVolumeSource, path: string): Generator<Cause> {
  yield* validateCSIDriverName(driver, `${path}.driver`);
  if (nodePublishSecretRef === undefined) return;
  const { name } = nodePublishSecretRef;
  if (name) yield* refusals(`${path}.name`, name, validateDns1123Subdomain(name));
  else yield required(`${path}.nodePublishSecretRef.name`);
}

function* validateEphemeral({ volumeClaimTemplate }: EphemeralVolumeSource, path: string): Generator<Cause> {
  if (volumeClaimTemplate === undefined) {
    yield required(`${path}.volumeClaimTemplate`);
    return;
  }
  const { metadata, spec } = volumeClaimTemplate;
  if (metadata) yield* validateTemplateMeta(metadata, `${path}.volumeClaimTemplate.metadata`);
  yield* validatePersistentVolumeClaimSpec(spec, `${path}.volumeClaimTemplate.spec`);
}

/** A template may set only labels and annotations of the metadata. */
function* validateTemplateMeta(metadata: ObjectMeta, path: string): Generator<Cause> {
  yield* validateAnnotations(metadata.annotations, `${path}.annotations`);
  yield* validateLabels(metadata.labels, `${path}.labels`);
  for (const field of templateMetaFields) {
    if (!isMissing(metadata[field])) yield forbidden(`${path}.${goName(field)}`, 'cannot be set');
  }
}

const templateMetaFields = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** Returns the field name of the Go struct with a lower-case first letter, as Kubernetes reports it. */
function goName(field: string): string {
  return field === 'uid' ? 'uID' : field;
}

/** The PVC of an ephemeral volume is named after the Pod and the volume. The name must be valid. */
function* validateClaimName(name: string, podName: string | undefined, path: string): Generator<Cause> {
  if (!podName || !name) return;
  const claimName = `${podName}-${name}`;
  for (const fault of validateDns1123Subdomain(claimName)) {
    yield invalid(`${path}.name`, name, `PVC name ${quote(claimName)}: ${fault}`);
  }
}
