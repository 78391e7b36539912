/** Resource scores: functions of the requested and allocatable resources of a node. */
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import { amountOf, isOther } from '../cluster/resources.ts';
import { maxNodeScore } from '../plugin.ts';

/** A resource and its weight. */
export type ResourceWeight = { readonly name: string; readonly weight: number };

/** A point of a scoring function: utilization in percent, and a score from 0 to 10. */
export type ShapePoint = { readonly utilization: number; readonly score: number };

export const cpuAndMemory: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** Requested amount of a resource on a node, including the Pod, and the allocatable amount. */
export type ResourceShare = {
  requested(node: NodeInfo, pod: PodInfo): number;
  allocatable(node: NodeInfo): number;
};

/** Non-zero requests on a node: Pods without requests count with defaults. */
export function atLeast(name: string): ResourceShare {
  if (name !== 'cpu' && name !== 'memory') return asRequested(name);
  const field = name === 'cpu' ? 'milliCpu' : 'memoryBytes';
  return {
    requested: (node, pod) => node.nonZeroRequested[field] + pod.nonZeroRequests[field],
    allocatable: (node) => node.allocatable[field],
  };
}

/** Actual requests on a node. */
export function asRequested(name: string): ResourceShare {
  return {
    requested: (node, pod) => amountOf(node.requested, name) + amountOf(pod.requests, name),
    allocatable: (node) => amountOf(node.allocatable, name),
  };
}

/** Reports whether a resource counts for a Pod: extended resources only if the Pod requests them. */
export function isJudgedBy(name: string, pod: PodInfo): boolean {
  return !isOther(name) || amountOf(pod.requests, name) > 0;
}

/** Returns the weighted mean of the scores of all resources; resources that a node lacks are skipped. */
export function weightedMean(
  resources: readonly ResourceWeight[],
  worth: (requested: number, allocatable: number) => number,
): (pod: PodInfo) => (node: NodeInfo) => number {
  const all = resources.map(({ name, weight }) => ({ name, weight, share: atLeast(name) }));
  return (pod) => {
    const judged = all.filter(({ name }) => isJudgedBy(name, pod));
    return (node) => {
      let sum = 0;
      let weights = 0;
      for (const { weight, share } of judged) {
        const allocatable = share.allocatable(node);
        if (allocatable === 0) continue;
        sum += worth(share.requested(node, pod), allocatable) * weight;
        weights += weight;
      }
      return weights === 0 ? 0 : Math.trunc(sum / weights);
    };
  };
}

/** Prefers the least allocated node. */
export function leastAllocated(requested: number, allocatable: number): number {
  return requested > allocatable ? 0 : Math.trunc(((allocatable - requested) * maxNodeScore) / allocatable);
}

/** Prefers the most allocated node. */
export function mostAllocated(requested: number, allocatable: number): number {
  return Math.trunc((Math.min(requested, allocatable) * maxNodeScore) / allocatable);
}

/** Scores by a piecewise linear function of the utilization. Resources with score 0 are skipped. */
export function requestedToCapacityRatio(
  resources: readonly ResourceWeight[],
  shape: readonly ShapePoint[],
): (pod: PodInfo) => (node: NodeInfo) => number {
  const worth = brokenLine(
    shape.map(({ utilization, score }) => ({ utilization, score: score * (maxNodeScore / 10) })),
  );
  const all = resources.map(({ name, weight }) => ({ name, weight, share: atLeast(name) }));
  return (pod) => {
    const judged = all.filter(({ name }) => isJudgedBy(name, pod));
    return (node) => {
      let sum = 0;
      let weights = 0;
      for (const { weight, share } of judged) {
        const allocatable = share.allocatable(node);
        if (allocatable === 0) continue;
        const requested = share.requested(node, pod);
        const score = worth(requested > allocatable ? 100 : Math.trunc((requested * 100) / allocatable));
        if (score <= 0) continue;
        sum += score * weight;
        weights += weight;
      }
      return weights === 0 ? 0 : Math.round(sum / weights);
    };
  };
}

function brokenLine(points: readonly ShapePoint[]): (utilization: number) => number {
  return (utilization) => {
    const index = points.findIndex((point) => utilization <= point.utilization);
    const right = points[index];
    if (!right) return points.at(-1)?.score ?? 0;
    const left = points[index - 1];
    if (!left) return right.score;
    const rise = (right.score - left.score) * (utilization - left.utilization);
    return left.score + Math.trunc(rise / (right.utilization - left.utilization));
  };
}

/** Scores the balance of resource fractions: 100 minus their standard deviation. */
export function balance(fractions: readonly number[]): number {
  return Math.trunc((1 - deviation(fractions)) * maxNodeScore);
}

function deviation(fractions: readonly number[]): number {
  if (fractions.length < 2) return 0;
  // For two numbers, the deviation is half of their difference, which is exact, unlike the general formula.
  if (fractions.length === 2) return Math.abs((fractions[0]! - fractions[1]!) / 2);
  const mean = fractions.reduce((sum, each) => sum + each, 0) / fractions.length;
  return Math.sqrt(fractions.reduce((sum, each) => sum + (each - mean) ** 2, 0) / fractions.length);
}
