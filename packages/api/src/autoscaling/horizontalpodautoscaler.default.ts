import type { Draft } from '@kruise/schema/draft';
import type { HorizontalPodAutoscaler, HPAScalingRules, MetricSpec } from './horizontalpodautoscaler.ts';

const usualUtilization = 80;

/** Returns a metric with a target CPU utilization. */
export function cpuMetric(averageUtilization = usualUtilization): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

/** Default scaling rules: up by 100% or four Pods, down without limit. */
const usualRules: { readonly scaleUp: HPAScalingRules; readonly scaleDown: HPAScalingRules } = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  },
  scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
};

export function defaultHorizontalPodAutoscaler({ spec }: Draft<HorizontalPodAutoscaler>): void {
  if (!spec) return;
  spec.minReplicas ??= 1;
  if (!spec.metrics?.length) spec.metrics = [cpuMetric() as Draft<MetricSpec>];
  if (!spec.behavior) return;
  for (const direction of ['scaleUp', 'scaleDown'] as const) {
    const usual = structuredClone(usualRules[direction]) as Draft<HPAScalingRules>;
    spec.behavior[direction] = { ...usual, ...spec.behavior[direction] };
  }
}
