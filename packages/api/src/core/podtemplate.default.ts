import type { Draft } from '@kruise/schema/draft';
import { defaultPodTemplate } from './pod-spec.default.ts';
import type { PodTemplate } from './podtemplate.ts';

export function defaultPodTemplateObject(object: Draft<PodTemplate>): void {
  defaultPodTemplate((object.template ??= {}));
}
