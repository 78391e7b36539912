import type { Draft } from '@kruise/schema/draft';
import { isSame } from '../meta/same.ts';
import { nextGeneration } from '../meta/strategy.ts';
import { dropDisabledTemplateFields } from './pod-spec.strategy.ts';
import type { PodTemplate } from './podtemplate.ts';

export function preparePodTemplateForCreate(object: Draft<PodTemplate>): void {
  object.metadata.generation = 1;
  dropDisabledTemplateFields(object.template, undefined);
}

export function preparePodTemplateForUpdate(object: Draft<PodTemplate>, old: PodTemplate): void {
  dropDisabledTemplateFields(object.template, old.template);
  if (!isSame(object.template, old.template)) nextGeneration(object, old);
}
