import type { Draft } from '@kruise/schema/draft';
import { dropDisabledTemplateFields } from '../core/pod-spec.strategy.ts';
import { isSame } from '../meta/same.ts';
import { incrementGeneration, keepSpec, keepStatus, resetNewObject } from '../meta/strategy.ts';
import { templateGeneration } from './daemonset.default.ts';
import type { DaemonSet } from './daemonset.ts';

export function prepareDaemonSetForCreate(object: Draft<DaemonSet>): void {
  resetNewObject(object);
  dropDisabledTemplateFields(object.spec?.template, undefined);
  setTemplateGeneration(object, Math.max(1, templateGenerationOf(object)));
}

export function prepareDaemonSetForUpdate(object: Draft<DaemonSet>, old: DaemonSet): void {
  keepStatus(object, old);
  dropDisabledTemplateFields(object.spec?.template, old.spec?.template);
  const changes = isSame(object.spec?.template, old.spec?.template) ? 0 : 1;
  setTemplateGeneration(object, templateGenerationOf(old) + changes);
  incrementGeneration(object, old);
}

export function prepareDaemonSetStatusUpdate(object: Draft<DaemonSet>, old: DaemonSet): void {
  keepSpec(object, old);
  setTemplateGeneration(object, templateGenerationOf(old));
}

/** Reports whether the template has changed. */
export function isTemplateChanged(set: DaemonSet, old: DaemonSet): boolean {
  return templateGenerationOf(set) !== templateGenerationOf(old);
}

function templateGenerationOf({ metadata }: DaemonSet): number {
  const text = metadata.annotations?.[templateGeneration] ?? '';
  return /^[+-]?[0-9]{1,15}$/.test(text) ? Number(text) : 0;
}

function setTemplateGeneration({ metadata }: Draft<DaemonSet>, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(generation) };
}
