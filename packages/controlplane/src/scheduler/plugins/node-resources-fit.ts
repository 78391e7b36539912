import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isExtendedResource } from '@kruise/api/core/resource-name';
import { createNodeInfo, type NodeInfo, setNode } from '../cluster/node-info.ts';
import { type PodInfo, podInfoOf } from '../cluster/pod-info.ts';
import { amountOf, type Resources } from '../cluster/resources.ts';
import type { Plugin } from '../plugin.ts';
import {
  cpuAndMemory,
  leastAllocated,
  mostAllocated,
  type ResourceWeight,
  requestedToCapacityRatio,
  type ShapePoint,
  weightedMean,
} from './resource-scores.ts';

const name = 'NodeResourcesFit';

export type NodeResourcesFitArgs = {
  /** Extended resources that this plugin ignores. */
  readonly ignoredResources?: readonly string[];
  /** Groups of extended resources that this plugin ignores: `example.com`. */
  readonly ignoredResourceGroups?: readonly string[];
  readonly scoringStrategy?: ScoringStrategy;
};

export type ScoringStrategy = {
  readonly type: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio';
  readonly resources?: readonly ResourceWeight[];
  readonly requestedToCapacityRatio?: { readonly shape: readonly ShapePoint[] };
};

/**
 * NodeResourcesFit plugin: rejects nodes without enough free resources, and by default prefers the least allocated
 * ones.
 */
export function nodeResourcesFit(args: NodeResourcesFitArgs = {}): Plugin {
  const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy } = args;
  const isIgnored = (resource: string) =>
    isExtendedResource(resource) &&
    (ignoredResources.includes(resource) || ignoredResourceGroups.includes(resource.split('/')[0]!));
  const { type = 'LeastAllocated', resources = cpuAndMemory, requestedToCapacityRatio: ratio } = scoringStrategy ?? {};
  const worth =
    type === 'RequestedToCapacityRatio'
      ? requestedToCapacityRatio(resources, ratio?.shape ?? [])
      : weightedMean(resources, type === 'MostAllocated' ? mostAllocated : leastAllocated);

  return {
    name,
    isLocal: true,
    filter(pod) {
      const needed = needsOf(pod.requests, isIgnored);
      return {
        filter: {
          check(node) {
            const reasons = shortages(needed, node);
            return reasons && { plugin: name, isPreemptable: true, reasons };
          },
        },
      };
    },
    score: (pod) => ({ score: worth(pod) }),
    events: [
      {
        resource: 'Pod',
        actions: ['Delete', 'UpdatePodScaleDown'],
        helps: (pod, { before, after }) =>
          after === undefined ? freesAnything(before as Pod) : freesFor(pod, before as Pod, after as Pod),
      },
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeAllocatable'],
        helps(pod, { before, after }) {
          const is = emptyNode(after as Node);
          const needs = needsOf(pod.requests, () => false);
          if (shortages(needs, is)) return false;
          return before === undefined || hasMore(pod.requests, emptyNode(before as Node), is);
        },
      },
    ],
  };
}

/** Requested amounts of a Pod, without zeroes. */
type Needs = { readonly standard: Resources; readonly others: readonly (readonly [name: string, amount: number])[] };

function needsOf(requests: Resources, isIgnored: (name: string) => boolean): Needs {
  const others = [...requests.others].filter(([name, amount]) => amount !== 0 && !isIgnored(name));
  return { standard: requests, others };
}

/** Returns the insufficient resources of a node; undefined if the Pod fits. */
function shortages({ standard, others }: Needs, node: NodeInfo): readonly string[] | undefined {
  const { allocatable, requested } = node;
  let reasons: string[] | undefined;
  const lack = (reason: string) => (reasons ??= []).push(reason);
  if (node.pods.size + 1 > node.allowedPods) lack('Too many pods');
  if (standard.milliCpu > 0 && standard.milliCpu > allocatable.milliCpu - requested.milliCpu) lack('Insufficient cpu');
  if (standard.memoryBytes > 0 && standard.memoryBytes > allocatable.memoryBytes - requested.memoryBytes) {
    lack('Insufficient memory');
  }
  const storage = standard.ephemeralStorageBytes;
  if (storage > 0 && storage > allocatable.ephemeralStorageBytes - requested.ephemeralStorageBytes) {
    lack('Insufficient ephemeral-storage');
  }
  for (const [resource, amount] of others) {
    if (amount > amountOf(allocatable, resource) - amountOf(requested, resource)) lack(`Insufficient ${resource}`);
  }
  return reasons;
}

function emptyNode(node: Node): NodeInfo {
  const info = createNodeInfo(node.metadata.name ?? '');
  setNode(info, node);
  return info;
}

/** Reports whether a node has more than before of a resource that the Pod requests. */
function hasMore(requests: Resources, before: NodeInfo, after: NodeInfo): boolean {
  if (after.allowedPods > before.allowedPods) return true;
  return namesIn(requests).some(
    (resource) => amountOf(after.allocatable, resource) > amountOf(before.allocatable, resource),
  );
}

function freesAnything({ spec, status }: Pod): boolean {
  return Boolean(spec?.nodeName || status?.nominatedNodeName);
}

/** Reports whether a Pod that was resized, possibly the Pod itself, frees a resource that the Pod requests. */
function freesFor(pod: PodInfo, before: Pod, after: Pod): boolean {
  if (after.metadata.uid === pod.uid) return true;
  if (!after.spec?.nodeName) return false;
  const had = podInfoOf(before).requests;
  const has = podInfoOf(after).requests;
  return namesIn(pod.requests).some((resource) => amountOf(had, resource) > amountOf(has, resource));
}

/** Returns the resources that a Pod requests. */
function namesIn(requests: Resources): readonly string[] {
  const names = ['cpu', 'memory', 'ephemeral-storage', ...requests.others.keys()];
  return names.filter((name) => amountOf(requests, name) > 0);
}
