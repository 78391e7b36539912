/**
 * Conversion between autoscaling/v1 and v2. v1 has only one metric, CPU utilization. All other fields of v2 are carried
 * in annotations, so that a client that reads and writes v1 loses nothing: metrics in the form of a former API version,
 * behavior with the field names of Go.
 */
import type { ObjectMeta } from '../meta/object-meta.ts';
import { cpuMetric } from './horizontalpodautoscaler.default.ts';
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
} from './horizontalpodautoscaler.ts';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from './horizontalpodautoscaler-v1.ts';

const prefix = 'autoscaling.alpha.kubernetes.io/';
const carried = ['metrics', 'behavior', 'scale-down-tolerance', 'scale-up-tolerance', 'current-metrics', 'conditions'];
/** The annotations in which v1 carries fields that it lacks. */
export const carryingAnnotations: readonly string[] = carried.map((name) => `${prefix}${name}`);

/** Converts an autoscaler to v1. */
export function toVersion1({ metadata, spec, status, ...rest }: HorizontalPodAutoscaler): HorizontalPodAutoscalerV1 {
  const { metrics = [], behavior, ...common } = spec ?? { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 };
  const { currentMetrics: found, conditions, ...commonStatus } = status ?? { desiredReplicas: 0 };
  // An encoded status without metrics has null for them.
  const currentMetrics = found ?? [];
  const cpu = metrics.find(isCpuShare)?.resource?.target.averageUtilization;
  const currentCpu = currentMetrics.findLast(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu');
  const others = metrics.filter((metric) => !isCpuShare(metric));
  const current = currentCpu?.resource?.current.averageUtilization;
  return {
    ...rest,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(metadata, {
      metrics: others.length > 0 ? others.map(metricToVersion1) : undefined,
      'current-metrics': currentMetrics.length > 0 ? currentMetrics.map(statusToVersion1) : undefined,
      behavior: behavior && behaviorToGo(behavior),
      conditions: conditions && conditions.length > 0 ? conditions.map(conditionToVersion1) : undefined,
    }),
    spec: { ...common, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }) },
    status: {
      currentReplicas: 0,
      ...commonStatus,
      ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }),
    },
  } as HorizontalPodAutoscalerV1;
}

/** Converts an autoscaler to v2, the storage version. */
export function fromVersion1({ metadata, spec, status, ...rest }: HorizontalPodAutoscalerV1): HorizontalPodAutoscaler {
  const { targetCPUUtilizationPercentage: cpu, ...common } = spec ?? {};
  const { currentCPUUtilizationPercentage: currentCpu, ...commonStatus } = status ?? {};
  const others = carriedValue<readonly Metric1[]>(metadata, 'metrics') ?? [];
  const metrics = [...others.map(metricFromVersion1), ...(cpu === undefined ? [] : [cpuMetric(cpu)])];
  const behavior = carriedValue<GoBehavior>(metadata, 'behavior');
  const conditions = carriedValue<readonly HorizontalPodAutoscalerCondition[]>(metadata, 'conditions');
  const statuses = carriedValue<readonly Status1[]>(metadata, 'current-metrics')?.map(statusFromVersion1);
  const currentMetrics = statuses ?? (currentCpu === undefined ? undefined : [cpuStatus(currentCpu)]);
  return {
    ...rest,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(metadata, {}),
    spec: {
      ...common,
      metrics: metrics.length > 0 ? metrics : [cpuMetric()],
      ...(behavior ? { behavior: behaviorFromGo(behavior) } : {}),
    },
    status: {
      ...commonStatus,
      ...(currentMetrics ? { currentMetrics } : {}),
      ...(conditions ? { conditions } : {}),
    },
  } as HorizontalPodAutoscaler;
}

function cpuStatus(averageUtilization: number): MetricStatus {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } };
}

function isCpuShare({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined;
}

function withAnnotations(metadata: ObjectMeta, values: { readonly [name: string]: unknown }): ObjectMeta {
  const annotations = Object.fromEntries([
    ...Object.entries(metadata.annotations ?? {}).filter(([name]) => !isCarried(name)),
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[`${prefix}${name}`, JSON.stringify(value)]],
    ),
  ]);
  const { annotations: _, ...others } = metadata;
  return Object.keys(annotations).length === 0 ? others : { ...others, annotations };
}

function isCarried(annotation: string): boolean {
  return carryingAnnotations.includes(annotation);
}

/** Returns the value of an annotation; undefined if it cannot be parsed. */
function carriedValue<T>({ annotations }: ObjectMeta, name: string): T | undefined {
  const text = annotations?.[`${prefix}${name}`];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

type Use1 = { readonly name: string; readonly container?: string };
type Named1 = { readonly metricName: string; readonly selector?: MetricIdentifier['selector'] };
type External1 = { readonly metricName: string; readonly metricSelector?: MetricIdentifier['selector'] };

type Metric1 = {
  readonly type: string;
  readonly object?: Named1 & {
    readonly target: CrossVersionObjectReference;
    readonly targetValue: string;
    readonly averageValue?: string;
  };
  readonly pods?: Named1 & { readonly targetAverageValue: string };
  readonly resource?: Use1 & { readonly targetAverageUtilization?: number; readonly targetAverageValue?: string };
  readonly containerResource?: Metric1['resource'];
  readonly external?: External1 & { readonly targetValue?: string; readonly targetAverageValue?: string };
};

function metricToVersion1({ type, object, pods, resource, containerResource, external }: MetricSpec): Metric1 {
  const use = (source: NonNullable<typeof resource>, container: object) => ({
    name: source.name,
    ...given({
      targetAverageUtilization: source.target.averageUtilization,
      targetAverageValue: source.target.averageValue,
    }),
    ...container,
  });
  return {
    type,
    ...(object && {
      object: {
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? '0',
        ...given({ selector: object.metric.selector, averageValue: object.target.averageValue }),
      },
    }),
    ...(pods && {
      pods: {
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue ?? '0',
        ...given({ selector: pods.metric.selector }),
      },
    }),
    ...(resource && { resource: use(resource, {}) }),
    ...(containerResource && {
      containerResource: use(containerResource, { container: containerResource.container }),
    }),
    ...(external && {
      external: {
        metricName: external.metric.name,
        ...given({
          metricSelector: external.metric.selector,
          targetValue: external.target.value,
          targetAverageValue: external.target.averageValue,
        }),
      },
    }),
  } as Metric1;
}

function metricFromVersion1({ type, object, pods, resource, containerResource, external }: Metric1): MetricSpec {
  const use = ({ targetAverageUtilization, targetAverageValue }: NonNullable<typeof resource>) => ({
    type: targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
    ...given({ averageValue: targetAverageValue, averageUtilization: targetAverageUtilization }),
  });
  return {
    type,
    ...(object && {
      object: {
        describedObject: object.target,
        target: {
          type: object.averageValue === undefined ? 'Value' : 'AverageValue',
          value: object.targetValue,
          ...given({ averageValue: object.averageValue }),
        },
        metric: identifier(object.metricName, object.selector),
      },
    }),
    ...(pods && {
      pods: {
        metric: identifier(pods.metricName, pods.selector),
        target: { type: 'AverageValue', averageValue: pods.targetAverageValue },
      },
    }),
    ...(resource && { resource: { name: resource.name, target: use(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        target: use(containerResource),
        container: containerResource.container ?? '',
      },
    }),
    ...(external && {
      external: {
        metric: identifier(external.metricName, external.metricSelector),
        target: {
          type: external.targetValue === undefined ? 'AverageValue' : 'Value',
          ...given({ value: external.targetValue, averageValue: external.targetAverageValue }),
        },
      },
    }),
  };
}

type Status1 = {
  readonly type: string;
  readonly object?: Named1 & {
    readonly target: CrossVersionObjectReference;
    readonly currentValue: string;
    readonly averageValue?: string;
  };
  readonly pods?: Named1 & { readonly currentAverageValue: string };
  readonly resource?: Use1 & { readonly currentAverageUtilization?: number; readonly currentAverageValue: string };
  readonly containerResource?: Status1['resource'];
  readonly external?: External1 & { readonly currentValue: string; readonly currentAverageValue?: string };
};

function statusToVersion1({ type, object, pods, resource, containerResource, external }: MetricStatus): Status1 {
  const use = (source: NonNullable<typeof resource>, container: object) => ({
    name: source.name,
    ...given({ currentAverageUtilization: source.current.averageUtilization }),
    currentAverageValue: source.current.averageValue ?? '0',
    ...container,
  });
  return {
    type,
    ...(object && {
      object: {
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? '0',
        ...given({ selector: object.metric.selector, averageValue: object.current.averageValue }),
      },
    }),
    ...(pods && {
      pods: {
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? '0',
        ...given({ selector: pods.metric.selector }),
      },
    }),
    ...(resource && { resource: use(resource, {}) }),
    ...(containerResource && {
      containerResource: use(containerResource, { container: containerResource.container }),
    }),
    ...(external && {
      external: {
        metricName: external.metric.name,
        ...given({ metricSelector: external.metric.selector }),
        currentValue: external.current.value ?? '0',
        ...given({ currentAverageValue: external.current.averageValue }),
      },
    }),
  } as Status1;
}

function statusFromVersion1({ type, object, pods, resource, containerResource, external }: Status1): MetricStatus {
  const use = ({ currentAverageUtilization, currentAverageValue }: NonNullable<typeof resource>) => ({
    averageValue: currentAverageValue,
    ...given({ averageUtilization: currentAverageUtilization }),
  });
  return {
    type,
    ...(object && {
      object: {
        metric: identifier(object.metricName, object.selector),
        current: { value: object.currentValue, ...given({ averageValue: object.averageValue }) },
        describedObject: object.target,
      },
    }),
    ...(pods && {
      pods: {
        metric: identifier(pods.metricName, pods.selector),
        current: { averageValue: pods.currentAverageValue },
      },
    }),
    ...(resource && { resource: { name: resource.name, current: use(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        current: use(containerResource),
        container: containerResource.container ?? '',
      },
    }),
    ...(external && {
      external: {
        metric: identifier(external.metricName, external.metricSelector),
        current: { value: external.currentValue, ...given({ averageValue: external.currentAverageValue }) },
      },
    }),
  };
}

function identifier(name: string, selector: MetricIdentifier['selector']): MetricIdentifier {
  return { name, ...given({ selector }) };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Removes members without a value. */
function given<T extends object>(members: T): Given<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;
}

function conditionToVersion1(condition: HorizontalPodAutoscalerCondition): HorizontalPodAutoscalerCondition {
  const { type, status, lastTransitionTime, reason, message } = condition;
  return {
    type,
    status,
    lastTransitionTime: lastTransitionTime ?? null,
    ...given({ reason, message }),
  } as HorizontalPodAutoscalerCondition;
}

type GoRules = {
  readonly StabilizationWindowSeconds: number | null;
  readonly SelectPolicy: string | null;
  readonly Policies:
    | readonly { readonly Type: string; readonly Value: number; readonly PeriodSeconds: number }[]
    | null;
  readonly Tolerance: string | null;
};
type GoBehavior = { readonly ScaleUp: GoRules | null; readonly ScaleDown: GoRules | null };

function behaviorToGo({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): GoBehavior {
  const rules = (from: HPAScalingRules | undefined): GoRules | null =>
    from === undefined
      ? null
      : {
          StabilizationWindowSeconds: from.stabilizationWindowSeconds ?? null,
          SelectPolicy: from.selectPolicy ?? null,
          Policies:
            from.policies?.map(({ type, value, periodSeconds }) => ({
              Type: type,
              Value: value,
              PeriodSeconds: periodSeconds,
            })) ?? null,
          Tolerance: from.tolerance ?? null,
        };
  return { ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) };
}

function behaviorFromGo({ ScaleUp, ScaleDown }: GoBehavior): HorizontalPodAutoscalerBehavior {
  const rules = (from: GoRules): HPAScalingRules => ({
    ...given({
      stabilizationWindowSeconds: from.StabilizationWindowSeconds ?? undefined,
      selectPolicy: from.SelectPolicy ?? undefined,
      policies: from.Policies?.map(({ Type, Value, PeriodSeconds }) => ({
        type: Type,
        value: Value,
        periodSeconds: PeriodSeconds,
      })),
      tolerance: from.Tolerance ?? undefined,
    }),
  });
  return { ...(ScaleUp ? { scaleUp: rules(ScaleUp) } : {}), ...(ScaleDown ? { scaleDown: rules(ScaleDown) } : {}) };
}
