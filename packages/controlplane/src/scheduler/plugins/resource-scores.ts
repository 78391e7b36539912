/** How well a node is filled, by how much of its resources is requested. */
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import { amountOf, isOther } from '../cluster/resources.ts';
import { maxNodeScore } from '../plugin.ts';

/** A resource, and how much it counts. */
export type ResourceWeight = { readonly name: string; readonly weight: number };

/** What a line goes through: how full a node is, in percent, and what that is worth, from 0 to 10. */
export type ShapePoint = { readonly utilization: number; readonly score: number };

export const cpuAndMemory: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** What would be requested of a resource, and what there is of it. Nothing is known of a resource the node lacks. */
type Share = { readonly requested: number; readonly allocatable: number };

/** What is requested of a node by the Pod and the others, with something for those that ask for nothing. */
export function sharesAtLeast(node: NodeInfo, pod: PodInfo, name: string): Share | undefined {
  if (name === 'cpu' || name === 'memory') {
    const field = name === 'cpu' ? 'milliCpu' : 'memoryBytes';
    return shareOf(node.assumedRequested[field] + pod.assumedRequests[field], node.allocatable[field]);
  }
  return sharesRequested(node, pod, name);
}

/** What is requested of a node by the Pod and the others. */
export function sharesRequested(node: NodeInfo, pod: PodInfo, name: string): Share | undefined {
  const wanted = amountOf(pod.requests, name);
  // Who does not want a device is not to be judged by how many are left.
  if (wanted === 0 && isOther(name)) return undefined;
  return shareOf(amountOf(node.requested, name) + wanted, amountOf(node.allocatable, name));
}

function shareOf(requested: number, allocatable: number): Share | undefined {
  return allocatable === 0 ? undefined : { requested, allocatable };
}

/** The weighted mean of what the shares of all resources are worth. */
export function weightedMean(
  resources: readonly ResourceWeight[],
  scoreOf: (share: Share) => number,
): (shares: (name: string) => Share | undefined) => number {
  return (shares) => {
    let sum = 0;
    let weights = 0;
    for (const { name, weight } of resources) {
      const share = shares(name);
      if (!share) continue;
      sum += scoreOf(share) * weight;
      weights += weight;
    }
    return weights === 0 ? 0 : Math.trunc(sum / weights);
  };
}

/** The emptier, the better. */
export function leastAllocated({ requested, allocatable }: Share): number {
  return requested > allocatable ? 0 : Math.trunc(((allocatable - requested) * maxNodeScore) / allocatable);
}

/** The fuller, the better. */
export function mostAllocated({ requested, allocatable }: Share): number {
  return Math.trunc((Math.min(requested, allocatable) * maxNodeScore) / allocatable);
}

/** Best where a line through given points is highest. Resources that are worth nothing do not count. */
export function requestedToCapacityRatio(resources: readonly ResourceWeight[], shape: readonly ShapePoint[]) {
  const worth = brokenLine(
    shape.map(({ utilization, score }) => ({ utilization, score: score * (maxNodeScore / 10) })),
  );
  return (shares: (name: string) => Share | undefined): number => {
    let sum = 0;
    let weights = 0;
    for (const { name, weight } of resources) {
      const share = shares(name);
      if (!share) continue;
      const { requested, allocatable } = share;
      const score = worth(requested > allocatable ? 100 : Math.trunc((requested * 100) / allocatable));
      if (score <= 0) continue;
      sum += score * weight;
      weights += weight;
    }
    return weights === 0 ? 0 : Math.round(sum / weights);
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

/** The more alike the shares of all resources are, the better: 100 less their standard deviation. */
export function balance(shares: readonly Share[]): number {
  const fractions = shares.map(({ requested, allocatable }) => Math.min(requested / allocatable, 1));
  return Math.trunc((1 - deviation(fractions)) * maxNodeScore);
}

function deviation(fractions: readonly number[]): number {
  const [first = 0, second = 0] = fractions;
  if (fractions.length < 2) return 0;
  // Of two numbers it is half their difference, which is exact where the general way is not.
  if (fractions.length === 2) return Math.abs((first - second) / 2);
  const mean = fractions.reduce((sum, each) => sum + each, 0) / fractions.length;
  return Math.sqrt(fractions.reduce((sum, each) => sum + (each - mean) ** 2, 0) / fractions.length);
}
