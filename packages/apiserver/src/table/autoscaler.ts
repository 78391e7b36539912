import { ageColumn, type Loose, nameColumn, some, tableOfColumns, text } from './cells.ts';

/** Formats the current and target value of a metric. */
function metricTarget(metric: Loose, current: Loose): string {
  const target = metric[targetKeys[metric.type as keyof typeof targetKeys]]?.target ?? {};
  const now = current?.[targetKeys[metric.type as keyof typeof targetKeys]]?.current;
  const average = (suffix = '') => `${now?.averageValue ?? '<unknown>'}/${target.averageValue}${suffix}`;
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource': {
      const { name } = metric[targetKeys[metric.type as 'Resource']];
      if (target.averageValue != null) return `${name}: ${average()}`;
      const percent = now?.averageUtilization == null ? '<unknown>' : `${now.averageUtilization}%`;
      return `${name}: ${percent}/${target.averageUtilization == null ? '<auto>' : `${target.averageUtilization}%`}`;
    }
    case 'Pods':
      return average();
    case 'Object':
    case 'External':
      if (target.averageValue != null) return average(' (avg)');
      return `${now?.value ?? '<unknown>'}/${target.value}`;
    default:
      return '<unknown type>';
  }
}

const targetKeys = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
} as const;

function scaleTargets({ spec, status }: Loose): string {
  const metrics: Loose[] = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  return some(
    metrics.map((metric, index) => metricTarget(metric, status?.currentMetrics?.[index])),
    2,
    ', ',
  );
}

export const autoscalerTable = tableOfColumns([
  nameColumn,
  text(
    'Reference',
    'scaleTargetRef points to the target resource to scale, and is used to the pods for which metrics should be collected, as well as to actually change the replica count.',
    ({ spec }) => `${spec?.scaleTargetRef?.kind}/${spec?.scaleTargetRef?.name}`,
  ),
  text(
    'Targets',
    'metrics contains the specifications for which to use to calculate the desired replica count (the maximum replica count across all metrics will be used).  The desired replica count is calculated multiplying the ratio between the target value and the current value by the current number of pods.  Ergo, metrics used must decrease as the pod count is increased, and vice-versa.  See the individual metric source types for more information about how each type of metric must respond.',
    scaleTargets,
  ),
  text(
    'MinPods',
    'minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down.  It defaults to 1 pod.  minReplicas is allowed to be 0 if the alpha feature gate HPAScaleToZero is enabled and at least one Object or External metric is configured.  Scaling is active as long as at least one metric value is available.',
    ({ spec }) => (spec?.minReplicas == null ? '<unset>' : String(spec.minReplicas)),
  ),
  text(
    'MaxPods',
    'maxReplicas is the upper limit for the number of replicas to which the autoscaler can scale up. It cannot be less that minReplicas.',
    ({ spec }) => spec?.maxReplicas ?? 0,
  ),
  text(
    'Replicas',
    'currentReplicas is current number of replicas of pods managed by this autoscaler, as last seen by the autoscaler.',
    ({ status }) => status?.currentReplicas ?? 0,
  ),
  ageColumn,
]);
