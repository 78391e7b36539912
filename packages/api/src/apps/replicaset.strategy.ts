import type { Draft } from '@kruise/schema/draft';
import { dropDisabledTemplateFields } from '../core/pod-spec.strategy.ts';
import { incrementGeneration, keepSpec, keepStatus, resetNewObject } from '../meta/strategy.ts';
import type { ReplicaSet } from './replicaset.ts';

export function prepareReplicaSetForCreate(object: Draft<ReplicaSet>): void {
  resetNewObject(object);
  dropDisabledTemplateFields(object.spec?.template, undefined);
}

export function prepareReplicaSetForUpdate(object: Draft<ReplicaSet>, old: ReplicaSet): void {
  keepStatus(object, old);
  dropDisabledTemplateFields(object.spec?.template, old.spec?.template);
  incrementGeneration(object, old);
}

export function prepareReplicaSetStatusUpdate(object: Draft<ReplicaSet>, old: ReplicaSet): void {
  keepSpec(object, old);
  if (old.status?.terminatingReplicas === undefined) delete object.status?.terminatingReplicas;
}
