import { ageColumn, type Loose, nameColumn, some, tableOfColumns, text } from './cells.ts';

/** What one metric is at, and where it should be. */
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
  text('Reference', 'What it scales.', ({ spec }) => `${spec?.scaleTargetRef?.kind}/${spec?.scaleTargetRef?.name}`),
  text('Targets', 'Where its metrics are, and where they should be.', scaleTargets),
  text('MinPods', 'The fewest Pods.', ({ spec }) => (spec?.minReplicas == null ? '<unset>' : String(spec.minReplicas))),
  text('MaxPods', 'The most Pods.', ({ spec }) => spec?.maxReplicas ?? 0),
  text('Replicas', 'How many Pods there are.', ({ status }) => status?.currentReplicas ?? 0),
  ageColumn,
]);
