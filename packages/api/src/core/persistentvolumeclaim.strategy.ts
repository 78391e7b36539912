import type { Draft } from '@kruise/schema/draft';
import { keepSpec, keepStatus } from '../meta/strategy.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './persistentvolumeclaim.ts';

export function preparePersistentVolumeClaimForCreate(claim: Draft<PersistentVolumeClaim>): void {
  claim.status = { phase: 'Pending' };
  if (claim.spec) prepareSpec(claim.spec, undefined);
}

export function preparePersistentVolumeClaimForUpdate(
  claim: Draft<PersistentVolumeClaim>,
  old: PersistentVolumeClaim,
): void {
  keepStatus(claim, old);
  if (claim.spec) prepareSpec(claim.spec, old.spec);
}

export function preparePersistentVolumeClaimStatusUpdate(
  claim: Draft<PersistentVolumeClaim>,
  old: PersistentVolumeClaim,
): void {
  keepSpec(claim, old);
  if (old.status?.currentVolumeAttributesClassName === undefined) delete claim.status?.currentVolumeAttributesClassName;
  if (old.status?.modifyVolumeStatus === undefined) delete claim.status?.modifyVolumeStatus;
}

function prepareSpec(spec: Draft<PersistentVolumeClaimSpec>, old: PersistentVolumeClaimSpec | undefined): void {
  // VolumeAttributesClasses and data sources in other namespaces are disabled in v1.33.
  if (old?.volumeAttributesClassName === undefined) delete spec.volumeAttributesClassName;
  if (spec.dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef;
  const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  if (!hadSource && !spec.dataSourceRef && !isClaimOrSnapshot(spec)) delete spec.dataSource;
  mirrorSources(spec);
}

/** Before `dataSourceRef` existed, any other data source was dropped silently, and older clients rely on that. */
function isClaimOrSnapshot({ dataSource }: PersistentVolumeClaimSpec): boolean {
  const { kind, apiGroup } = dataSource ?? {};
  if (kind === 'PersistentVolumeClaim') return !apiGroup;
  return kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io';
}

/**
 * Keeps `dataSource` and `dataSourceRef` equal, unless the source is in another namespace, which only `dataSourceRef`
 * supports.
 */
function mirrorSources(spec: Draft<PersistentVolumeClaimSpec>): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  else if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    const { namespace: _, ...local } = dataSourceRef;
    spec.dataSource = local;
  }
}
