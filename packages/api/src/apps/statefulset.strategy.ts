import type { Draft } from '@kruise/schema/draft';
import { dropDisabledTemplateFields } from '../core/pod-spec.strategy.ts';
import { incrementGeneration, keepSpec, keepStatus, resetNewObject } from '../meta/strategy.ts';
import type { StatefulSet } from './statefulset.ts';

export function prepareStatefulSetForCreate(object: Draft<StatefulSet>): void {
  resetNewObject(object);
  dropDisabled(object, undefined);
}

export function prepareStatefulSetForUpdate(object: Draft<StatefulSet>, old: StatefulSet): void {
  keepStatus(object, old);
  dropDisabled(object, old);
  incrementGeneration(object, old);
}

export function prepareStatefulSetStatusUpdate(object: Draft<StatefulSet>, old: StatefulSet): void {
  keepSpec(object, old);
}

/** Drops maxUnavailable, a feature that is disabled in v1.33. */
function dropDisabled({ spec }: Draft<StatefulSet>, old: StatefulSet | undefined): void {
  if (old?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable === undefined) {
    delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
  }
  dropDisabledTemplateFields(spec?.template, old?.spec?.template);
}
