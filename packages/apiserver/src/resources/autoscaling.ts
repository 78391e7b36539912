import type { HorizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import {
  carryingAnnotations,
  fromVersion1,
  toVersion1,
} from '@kruise/api/autoscaling/horizontalpodautoscaler.conversion';
import { defaultHorizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler.default';
import {
  prepareHorizontalPodAutoscaler,
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatusUpdate,
  validateHorizontalPodAutoscalerUpdate,
} from '@kruise/api/autoscaling/horizontalpodautoscaler.validate';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from '@kruise/api/autoscaling/horizontalpodautoscaler-v1';
import type { Draft } from '@kruise/schema/draft';
import { type RulesByResource, rulesFor } from './rules.ts';

export const autoscalingRules: RulesByResource = {
  'horizontalpodautoscalers.autoscaling': rulesFor<HorizontalPodAutoscaler>({
    generation: 'none',
    default: defaultHorizontalPodAutoscaler,
    prepareForCreate: (object) => prepareHorizontalPodAutoscaler(object),
    prepareForUpdate: (object, old) => prepareHorizontalPodAutoscaler(object, old),
    validate: validateHorizontalPodAutoscaler,
    validateUpdate: validateHorizontalPodAutoscalerUpdate,
    validateStatusUpdate: validateHorizontalPodAutoscalerStatusUpdate,
  }),
  'horizontalpodautoscalers.autoscaling/v1': rulesFor<HorizontalPodAutoscalerV1>({
    fieldAnnotations: carryingAnnotations,
    generation: 'none',
    default: defaultVersion1,
    defaultsWhole: true,
    validate: (object) => validateHorizontalPodAutoscaler(fromVersion1(object)),
    validateUpdate: (object, old) => validateHorizontalPodAutoscalerUpdate(fromVersion1(object), fromVersion1(old)),
    validateStatusUpdate: (object, old) =>
      validateHorizontalPodAutoscalerStatusUpdate(fromVersion1(object), fromVersion1(old)),
  }),
};

/** Conversion to version 2, the storage version, and back. */
function defaultVersion1(object: Draft<HorizontalPodAutoscalerV1>): void {
  if (!object.spec) return;
  object.spec.minReplicas ??= 1;
  const { metadata, spec } = toVersion1(fromVersion1(object as HorizontalPodAutoscalerV1));
  object.metadata = metadata as Draft<typeof metadata>;
  object.spec = spec as Draft<NonNullable<typeof spec>>;
}
