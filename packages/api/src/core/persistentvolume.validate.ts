import { posix } from 'node:path';
import type { Draft } from '@kruise/schema/draft';
import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateDns1123Label, validateDns1123Subdomain } from '@kruise/values/names';
import { parseQuantity, quantitySign, wrappedValue } from '@kruise/values/quantity';
import { invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, mustBePositive, oneOf, orNull, refusals } from '../meta/value.validate.ts';
import { validateNodeSelector } from './affinity.validate.ts';
import { validateNoBacksteps } from './path.validate.ts';
import type { PersistentVolume, PersistentVolumeSpec } from './persistentvolume.ts';
import type { SecretReference } from './reference.ts';
import type { VolumeSource } from './volume.ts';
import { validateCSIDriverName, validateVolumeSource } from './volume.validate.ts';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

export function preparePersistentVolumeForCreate(volume: Draft<PersistentVolume>, now: string): void {
  volume.status = { phase: 'Pending', lastPhaseTransitionTime: now };
  delete volume.spec?.volumeAttributesClassName;
}

export function preparePersistentVolumeForUpdate({ spec }: Draft<PersistentVolume>, old: PersistentVolume): void {
  if (old.spec?.volumeAttributesClassName === undefined) delete spec?.volumeAttributesClassName;
}

/** Sets lastPhaseTransitionTime when the phase changes, unless the client sets it. */
export function preparePersistentVolumeStatusUpdate(
  volume: Draft<PersistentVolume>,
  old: PersistentVolume,
  now: string,
): void {
  const status = (volume.status ??= {});
  const before = old.status?.lastPhaseTransitionTime;
  const isSamePhase = (old.status?.phase ?? '') === (status.phase ?? '');
  if (isSamePhase) {
    if (status.lastPhaseTransitionTime === undefined && before !== undefined) status.lastPhaseTransitionTime = before;
  } else if (status.lastPhaseTransitionTime === undefined || status.lastPhaseTransitionTime === before) {
    status.lastPhaseTransitionTime = now;
  }
}

export function* validatePersistentVolume(volume: PersistentVolume): Generator<Cause> {
  yield* validateWhole(volume);
  yield* validateMountOptions(volume);
}

function* validateWhole({ metadata, spec = {} }: PersistentVolume): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  yield* validatePersistentVolumeSpec(spec, metadata.name ?? '', { path: 'spec', isInline: false });
}

const mountOptions = 'volume.beta.kubernetes.io/mount-options';
const mountable = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const;

function* validateMountOptions({ metadata, spec = {} }: PersistentVolume): Generator<Cause> {
  if (metadata.annotations?.[mountOptions] === undefined || mountable.some((name) => spec[name])) return;
  yield forbidden(`metadata.annotations.${mountOptions}`, 'may not specify mount options for this volume type');
}

type Place = {
  readonly path: string /** The source is in a VolumeAttachment, for an inline volume of a Pod. */;
  readonly isInline: boolean;
};

export function* validatePersistentVolumeSpec(
  spec: PersistentVolumeSpec,
  name: string,
  { path, isInline }: Place,
): Generator<Cause> {
  if (isInline) yield* validateInline(spec, path);
  yield* validateAccessModes(spec.accessModes ?? [], `${path}.accessModes`);
  if (!isInline) yield* validateCapacity(spec.capacity ?? {}, `${path}.capacity`);
  const { persistentVolumeReclaimPolicy: policy, nodeAffinity, storageClassName, volumeMode } = spec;
  if (policy) {
    const at = `${path}.persistentVolumeReclaimPolicy`;
    if (!isInline) yield* oneOf(at, policy, reclaimPolicies);
    else if (policy !== 'Retain') yield forbidden(at, 'may only be Retain in the context of inline volumes');
  }
  if (nodeAffinity) {
    if (isInline) yield forbidden(`${path}.nodeAffinity`, notInline);
    else if (nodeAffinity.required) yield* validateNodeSelector(nodeAffinity.required, `${path}.nodeAffinity.required`);
    else yield required(`${path}.nodeAffinity.required`, 'must specify required node constraints');
  }
  yield* validateSources(spec, name, path, isInline);
  if (storageClassName) {
    if (isInline) yield forbidden(`${path}.storageClassName`, notInline);
    else yield* refusals(`${path}.storageClassName`, storageClassName, validateDns1123Subdomain(storageClassName));
  }
  if (volumeMode === undefined) return;
  if (!isInline) yield* oneOf(`${path}.volumeMode`, volumeMode, volumeModes);
  else if (volumeMode !== 'Filesystem') {
    yield forbidden(
      `${path}.volumeMode`,
      'may not specify volumeMode other than Filesystem in the context of inline volumes',
    );
  }
}

const notInline = 'may not be specified in the context of inline volumes';

function* validateInline({ claimRef, capacity, csi }: PersistentVolumeSpec, path: string): Generator<Cause> {
  if (claimRef) yield forbidden(`${path}.claimRef`, notInline);
  if (Object.keys(capacity ?? {}).length > 0) yield forbidden(`${path}.capacity`, notInline);
  if (!csi) yield required(`${path}.csi`, 'has to be specified in the context of inline volumes');
}

function* validateAccessModes(modes: readonly string[], path: string): Generator<Cause> {
  if (modes.length === 0) yield required(path);
  for (const mode of modes) yield* oneOf(path, mode, accessModes);
  const isExclusive = modes.includes('ReadWriteOncePod');
  if (isExclusive && modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))) {
    yield forbidden(path, 'may not use ReadWriteOncePod with other access modes');
  }
}

function* validateCapacity(capacity: { readonly [name: string]: string }, path: string): Generator<Cause> {
  const names = Object.keys(capacity);
  if (names.length === 0) yield required(path);
  if (!capacity['storage'] || names.length > 1) {
    const shown = names.map((name) => `"${name}":resource.Quantity{…}`).join(', ');
    const cause = notSupported(path, '', ['storage']);
    const list = names.length === 0 ? 'core.ResourceList(nil)' : `core.ResourceList{${shown}}`;
    yield { ...cause, message: cause.message.replace('""', () => list) };
  }
  for (const name of names) {
    const amount = parseQuantity(capacity[name]!);
    const value = wrappedValue(amount);
    if (value < 0n) yield invalid(`${path}[${name}]`, value, 'must be a valid resource quantity');
    if (quantitySign(amount) <= 0) yield invalid(`${path}[${name}]`, capacity[name], mustBePositive);
  }
}

type SourceName = Exclude<
  keyof PersistentVolumeSpec,
  | 'accessModes'
  | 'capacity'
  | 'claimRef'
  | 'mountOptions'
  | 'nodeAffinity'
  | 'persistentVolumeReclaimPolicy'
  | 'storageClassName'
  | 'volumeAttributesClassName'
  | 'volumeMode'
>;

type Checks = {
  readonly [N in SourceName]?: (
    source: NonNullable<PersistentVolumeSpec[N]>,
    path: string,
    name: string,
  ) => Iterable<Cause>;
};

/** Rules for sources of PersistentVolumes that are stricter than those for Pods. */
const ownChecks: Checks = {
  *glusterfs(source, path) {
    yield* validateVolumeSource('glusterfs', source, path);
    const { endpointsNamespace } = source;
    if (endpointsNamespace === '') {
      const detail = 'if the endpointnamespace is set, it must be a valid namespace name';
      yield invalid(`${path}.endpointsNamespace`, endpointsNamespace, detail);
    } else if (endpointsNamespace !== undefined) {
      yield* refusals(`${path}.endpointsNamespace`, endpointsNamespace, validateDns1123Label(endpointsNamespace));
    }
  },
  *iscsi(source, path, name) {
    const { targetPortal, initiatorName, secretRef } = source;
    if (initiatorName !== undefined && Buffer.byteLength(`${name}:${targetPortal}`) > 64) {
      const detail =
        'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
      yield invalid(`${path}.targetportal`, targetPortal, detail);
    }
    yield* validateVolumeSource('iscsi', source, path);
    if (secretRef && !secretRef.name) yield required(`${path}.secretRef.name`);
  },
  *cinder(source, path) {
    yield* validateVolumeSource('cinder', source, path);
    if (source.secretRef && !source.secretRef.namespace) yield required(`${path}.secretRef.namespace`);
  },
  *azureFile(source, path) {
    yield* validateVolumeSource('azureFile', source, path);
    if (source.secretNamespace === '') yield required(`${path}.secretNamespace`);
  },
  *local({ path: directory }, path) {
    if (!directory) yield required(`${path}.path`);
    else yield* refusals(`${path}.path`, directory, validateNoBacksteps(directory));
  },
  *storageos(source, path) {
    yield* validateVolumeSource('storageos', source, path);
    if (source.secretRef && !source.secretRef.namespace) yield required(`${path}.secretRef.namespace`);
  },
  *csi(source, path) {
    yield* validateCSIDriverName(source.driver, `${path}.driver`);
    if (!source.volumeHandle) yield required(`${path}.volumeHandle`);
    const references = [
      'controllerPublishSecretRef',
      'controllerExpandSecretRef',
      'nodePublishSecretRef',
      'nodeExpandSecretRef',
    ] as const;
    for (const field of references) {
      const reference = source[field];
      if (reference) yield* validateSecretReference(reference, `${path}.${field}`);
    }
  },
};

function* validateSecretReference({ name, namespace }: SecretReference, path: string): Generator<Cause> {
  if (name) yield* refusals(`${path}.name`, name, validateDns1123Subdomain(name));
  else yield required(`${path}.name`);
  if (namespace) yield* refusals(`${path}.namespace`, namespace, validateDns1123Label(namespace));
  else yield required(`${path}.namespace`);
}

/** Sources in Kubernetes' order, with the paths that Kubernetes reports. */
const sources: readonly { readonly name: SourceName; readonly path?: string; readonly pathIfSecond?: string }[] = [
  { name: 'hostPath' },
  { name: 'gcePersistentDisk', path: 'persistentDisk' },
  { name: 'awsElasticBlockStore' },
  { name: 'glusterfs' },
  { name: 'flocker' },
  { name: 'nfs' },
  { name: 'rbd' },
  { name: 'quobyte' },
  { name: 'cephfs', pathIfSecond: 'cephFS' },
  { name: 'iscsi' },
  { name: 'cinder' },
  { name: 'fc' },
  { name: 'flexVolume' },
  { name: 'azureFile' },
  { name: 'vsphereVolume' },
  { name: 'photonPersistentDisk' },
  { name: 'portworxVolume' },
  { name: 'azureDisk' },
  { name: 'scaleIO' },
  { name: 'local' },
  { name: 'storageos' },
  { name: 'csi' },
];

function* validateSources(spec: PersistentVolumeSpec, name: string, path: string, isInline: boolean): Generator<Cause> {
  const given = sources.filter((source) => spec[source.name] !== undefined);
  for (const [index, source] of given.entries()) {
    if (index > 0 && source.name !== 'flexVolume') {
      yield forbidden(`${path}.${source.pathIfSecond ?? source.name}`, 'may not specify more than 1 volume type');
      continue;
    }
    const at = `${path}.${source.path ?? source.name}`;
    const check = ownChecks[source.name] as
      | ((value: unknown, path: string, name: string) => Iterable<Cause>)
      | undefined;
    // Sources without their own check have the same name and rules as in Pods.
    yield* check
      ? check(spec[source.name], at, name)
      : validateVolumeSource(source.name as keyof VolumeSource, spec[source.name], at);
    if (source.name === 'local' && !(spec.nodeAffinity && !isInline)) {
      yield required(`${path}.nodeAffinity`, 'Local volume requires node affinity');
    }
  }
  if (given.length === 0) yield required(path, 'must specify a volume type');
  const { hostPath, persistentVolumeReclaimPolicy: policy } = spec;
  if (hostPath && policy === 'Recycle' && posix.resolve('/', hostPath.path) === '/') {
    yield forbidden(`${path}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'");
  }
}

/** Validates an update. Errors of the object are reported twice, as in Kubernetes. */
export function* validatePersistentVolumeUpdate(volume: PersistentVolume, old: PersistentVolume): Generator<Cause> {
  yield* validatePersistentVolume(volume);
  yield* validateWhole(volume);
  const [spec, before] = [volume.spec ?? {}, old.spec ?? {}];
  if (sources.some(({ name }) => !isSame(comparable(spec, before, name), before[name]))) {
    yield forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation');
  }
  if (spec.volumeMode !== before.volumeMode) yield invalid('volumeMode', orNull(spec.volumeMode), isImmutable);
  if (before.nodeAffinity && !isSame(withStableLabels(spec.nodeAffinity), withStableLabels(before.nodeAffinity))) {
    const detail = `${isImmutable}, except for updating from beta label to GA`;
    yield invalidStructure('nodeAffinity', 'core.VolumeNodeAffinity', spec.nodeAffinity, detail);
  }
  if (spec.volumeAttributesClassName !== before.volumeAttributesClassName) {
    const detail = 'update is forbidden when the VolumeAttributesClass feature gate is disabled';
    yield forbidden('spec.volumeAttributesClassName', detail);
  }
}

/** Returns the source for the comparison. A Secret for the expansion of the volume may be added later. */
function comparable(spec: PersistentVolumeSpec, before: PersistentVolumeSpec, name: SourceName): unknown {
  if (name !== 'csi' || !before.csi || before.csi.controllerExpandSecretRef || !spec.csi) return spec[name];
  const { controllerExpandSecretRef: _, ...csi } = spec.csi;
  return csi;
}

const stableLabels: { readonly [label: string]: string } = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/**
 * Returns the constraint with deprecated topology labels replaced by their stable names, which is a permitted change.
 */
function withStableLabels(affinity: PersistentVolumeSpec['nodeAffinity']): unknown {
  return affinity?.required?.nodeSelectorTerms.map(({ matchExpressions = [], ...term }) => ({
    ...term,
    matchExpressions: matchExpressions.map((requirement) => ({
      ...requirement,
      key: stableLabels[requirement.key] ?? requirement.key,
    })),
  }));
}

export function* validatePersistentVolumeStatusUpdate(
  { metadata }: PersistentVolume,
  old: PersistentVolume,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (!metadata.resourceVersion) yield required('resourceVersion');
}
