import type { Draft } from '@kruise/schema/draft';
import { defaultPersistentVolumeClaim } from '../core/persistentvolumeclaim.default.ts';
import { defaultPodTemplate } from '../core/pod-spec.default.ts';
import type { StatefulSet, StatefulSetSpec } from './statefulset.ts';

export function defaultStatefulSet({ spec }: Draft<StatefulSet>): void {
  if (spec === undefined) return;
  spec.podManagementPolicy ||= 'OrderedReady';
  defaultUpdateStrategy(spec);
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ||= 'Retain';
  retention.whenScaled ||= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion = 'v1';
    claim.kind = 'PersistentVolumeClaim';
    defaultPersistentVolumeClaim(claim);
  }
}

/**
 * Defaults the update strategy. Unlike in other workloads, an explicit RollingUpdate without parameters gets no
 * partition.
 */
function defaultUpdateStrategy(spec: Draft<StatefulSetSpec>): void {
  const strategy = (spec.updateStrategy ??= {});
  if (!strategy.type) {
    strategy.type = 'RollingUpdate';
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) strategy.rollingUpdate.partition ??= 0;
}
