/** What is done about Pods that find no node, and after how long (uniteddeployment.md §2). */
import type { UnitedDeploymentScheduleStrategy } from '@kruise/api/kruise/uniteddeployment';

type Strategy = UnitedDeploymentScheduleStrategy | undefined;

/** Whether Pods that find no node are given to other domains. */
export function isAdaptive(strategy: Strategy): boolean {
  return strategy?.type === 'Adaptive';
}

/** Whether such Pods wait on, with stand-ins elsewhere. */
export function isReserving(strategy: Strategy): boolean {
  return isAdaptive(strategy) && strategy?.adaptive?.reserveUnschedulablePods === true;
}

/** How long a Pod may wait for a node. */
export function patienceMs(strategy: Strategy): number {
  return (strategy?.adaptive?.rescheduleCriticalSeconds ?? 30) * 1000;
}

/** How long a domain is held to be full, or a Pod has to prove itself. */
export function probationMs(strategy: Strategy): number {
  return (strategy?.adaptive?.unschedulableDuration ?? 300) * 1000;
}
