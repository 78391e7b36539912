import type { Cause } from '@kruise/schema/field-error';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { validatePodTemplateSpec } from './pod-spec.validate.ts';
import type { PodTemplate } from './podtemplate.ts';

export function* validatePodTemplate({ metadata, template = {} }: PodTemplate): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  yield* validatePodTemplateSpec(template, 'template');
}

export function* validatePodTemplateUpdate(
  { metadata, template = {} }: PodTemplate,
  old: PodTemplate,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validatePodTemplateSpec(template, 'template');
}
