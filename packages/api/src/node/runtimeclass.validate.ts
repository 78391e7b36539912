import type { Draft } from '@kruise/schema/draft';
import { type Cause, invalid } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import { validateDns1123Label } from '@kruise/values/names';
import { defaultResourceList } from '../core/resources.default.ts';
import { validateOverhead } from '../core/resources.validate.ts';
import type { Toleration } from '../core/toleration.ts';
import { validateTolerations } from '../core/toleration.validate.ts';
import { duplicateBare } from '../meta/go-value.ts';
import { validateLabels } from '../meta/labels.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../meta/object-meta.validate.ts';
import { isImmutable, refusals } from '../meta/value.validate.ts';
import type { RuntimeClass } from './runtimeclass.ts';

export function defaultRuntimeClass({ overhead }: Draft<RuntimeClass>): void {
  defaultResourceList(overhead?.podFixed);
}

export function* validateRuntimeClass({ metadata, handler, overhead, scheduling }: RuntimeClass): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: false, name: subdomainName });
  yield* refusals('handler', handler, validateDns1123Label(handler));
  if (overhead?.podFixed) yield* validateOverhead(overhead.podFixed, 'overhead');
  if (!scheduling) return;
  yield* validateLabels(scheduling.nodeSelector, 'scheduling.nodeSelector');
  // The path has the field twice for an invalid toleration, as in Kubernetes.
  const tolerations = scheduling.tolerations ?? [];
  yield* validateTolerations(tolerations, 'scheduling.tolerations.tolerations');
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const shown = goToleration(toleration);
    if (seen.has(shown)) yield duplicateBare(`scheduling.tolerations[${index}]`, shown);
    seen.add(shown);
  }
}

function goToleration({ key, operator, value, effect }: Toleration): string {
  const [shownKey, shownOperator, shownValue, shownEffect] = [key, operator, value, effect].map((text) =>
    quote(text ?? ''),
  );
  return `core.Toleration{Key:${shownKey}, Operator:${shownOperator}, Value:${shownValue}, Effect:${shownEffect}, TolerationSeconds:(*int64)(nil)}`;
}

export function* validateRuntimeClassUpdate({ metadata, handler }: RuntimeClass, old: RuntimeClass): Generator<Cause> {
  yield* validateObjectMetaUpdate(metadata, old.metadata);
  if (handler !== old.handler) yield invalid('handler', handler, isImmutable);
}
