import type { CalculationSettings } from './replicas.ts';

/** What autoscaling is told once for all. */
export type AutoscalerSettings = CalculationSettings & {
  /** How often each autoscaler is looked at. */
  readonly periodSeconds: number;
  /** Unless told otherwise, a workload shrinks only when it could have for so long. */
  readonly downWindowSeconds: number;
};

/** The defaults of kube-controller-manager's flags. */
export const usualAutoscalerSettings: AutoscalerSettings = {
  periodSeconds: 15,
  downWindowSeconds: 300,
  tolerance: 0.1,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
};
