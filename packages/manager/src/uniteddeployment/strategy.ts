/** Schedule strategy: handling of unschedulable Pods, and timeouts. */
import type { UnitedDeploymentScheduleStrategy } from '@kruise/api/kruise/uniteddeployment';

type Strategy = UnitedDeploymentScheduleStrategy | undefined;

/** Reports whether unschedulable Pods move to other subsets. */
export function isAdaptive(strategy: Strategy): boolean {
  return strategy?.type === 'Adaptive';
}

/** Reports whether unschedulable Pods stay reserved, with replacement Pods in other subsets. */
export function isReserving(strategy: Strategy): boolean {
  return isAdaptive(strategy) && strategy?.adaptive?.reserveUnschedulablePods === true;
}

/** Returns the time that a Pod may be pending. */
export function pendingTimeoutMs(strategy: Strategy): number {
  return (strategy?.adaptive?.rescheduleCriticalSeconds ?? 30) * 1000;
}

/** Returns the time that a subset counts as unschedulable, or that a Pod needs to be ready to be proven. */
export function unschedulableDurationMs(strategy: Strategy): number {
  return (strategy?.adaptive?.unschedulableDuration ?? 300) * 1000;
}
