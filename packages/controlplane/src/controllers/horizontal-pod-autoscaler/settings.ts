import type { CalculationSettings } from './replicas.ts';

/** Cluster-wide settings of the autoscaler. */
export type AutoscalerSettings = CalculationSettings & {
  /** Interval between two reconciles of an autoscaler. */
  readonly periodSeconds: number;
  /** Default stabilization window for scale-down. */
  readonly downWindowSeconds: number;
};

/** Defaults of kube-controller-manager's flags. */
export const defaultAutoscalerSettings: AutoscalerSettings = {
  periodSeconds: 15,
  downWindowSeconds: 300,
  tolerance: 0.1,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
};
