import type { Draft } from '@kruise/schema/draft';
import { incrementGeneration, keepSpec, keepStatus, resetNewObject } from '../meta/strategy.ts';
import { dropDisabledTemplateFields } from './pod-spec.strategy.ts';
import type { ReplicationController } from './replicationcontroller.ts';

export function prepareReplicationControllerForCreate(object: Draft<ReplicationController>): void {
  resetNewObject(object);
  dropDisabledTemplateFields(object.spec?.template, undefined);
}

export function prepareReplicationControllerForUpdate(
  object: Draft<ReplicationController>,
  old: ReplicationController,
): void {
  keepStatus(object, old);
  dropDisabledTemplateFields(object.spec?.template, old.spec?.template);
  incrementGeneration(object, old);
}

export function prepareReplicationControllerStatusUpdate(
  object: Draft<ReplicationController>,
  old: ReplicationController,
): void {
  keepSpec(object, old);
}
