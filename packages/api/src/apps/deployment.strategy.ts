import type { Draft } from '@kruise/schema/draft';
import { dropDisabledTemplateFields } from '../core/pod-spec.strategy.ts';
import { isSame } from '../meta/same.ts';
import { keepSpec, keepStatus, nextGeneration, resetNewObject } from '../meta/strategy.ts';
import type { Deployment } from './deployment.ts';

export function prepareDeploymentForCreate(object: Draft<Deployment>): void {
  resetNewObject(object);
  dropDisabledTemplateFields(object.spec?.template, undefined);
}

/** A change of annotations increments the generation too, because they are copied to the Deployment's ReplicaSets. */
export function prepareDeploymentForUpdate(object: Draft<Deployment>, old: Deployment): void {
  keepStatus(object, old);
  dropDisabledTemplateFields(object.spec?.template, old.spec?.template);
  const isChanged = !isSame(object.spec, old.spec) || !isSame(object.metadata.annotations, old.metadata.annotations);
  if (isChanged) nextGeneration(object, old);
}

export function prepareDeploymentStatusUpdate(object: Draft<Deployment>, old: Deployment): void {
  keepSpec(object, old);
  if (old.metadata.labels === undefined) delete object.metadata.labels;
  else object.metadata.labels = old.metadata.labels;
  if (old.status?.terminatingReplicas === undefined) delete object.status?.terminatingReplicas;
}
