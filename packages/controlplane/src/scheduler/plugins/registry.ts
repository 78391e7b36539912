/** Every plugin there is, in the order they are asked, and how much its scores count by default. */
import type { Lookup } from '../cluster/lookup.ts';
import type { Plugin } from '../plugin.ts';
import type { PreemptionArgs } from '../preemption.ts';
import { defaultPreemption } from './default-preemption.ts';
import { imageLocality } from './image-locality.ts';
import { type InterPodAffinityArgs, interPodAffinity } from './inter-pod-affinity.ts';
import { type NodeAffinityArgs, nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { type BalancedAllocationArgs, nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts';
import { type NodeResourcesFitArgs, nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { type PodTopologySpreadArgs, podTopologySpread } from './pod-topology-spread.ts';
import { schedulingGates } from './scheduling-gates.ts';
import { taintToleration } from './taint-toleration.ts';

/** What plugins can be told, by their names. */
export type PluginArgs = {
  readonly NodeAffinity?: NodeAffinityArgs;
  readonly NodeResourcesFit?: NodeResourcesFitArgs;
  readonly NodeResourcesBalancedAllocation?: BalancedAllocationArgs;
  readonly PodTopologySpread?: PodTopologySpreadArgs;
  readonly InterPodAffinity?: InterPodAffinityArgs;
  readonly DefaultPreemption?: PreemptionArgs;
};

/** What plugins are made of beside what they are told. */
export type PluginParts = {
  readonly lookup: Lookup;
  /** The Pods that others are being made to leave for, by uid. */
  readonly preempting: ReadonlySet<string>;
};

export type RegisteredPlugin = {
  readonly weight?: number;
  readonly make: (args: PluginArgs, parts: PluginParts) => Plugin;
};

export const registry: ReadonlyMap<string, RegisteredPlugin> = new Map<string, RegisteredPlugin>([
  ['SchedulingGates', { make: () => schedulingGates }],
  ['NodeUnschedulable', { make: () => nodeUnschedulable }],
  ['NodeName', { make: () => nodeName }],
  ['TaintToleration', { weight: 3, make: () => taintToleration }],
  ['NodeAffinity', { weight: 2, make: (args) => nodeAffinity(args.NodeAffinity) }],
  ['NodePorts', { make: () => nodePorts }],
  ['NodeResourcesFit', { weight: 1, make: (args) => nodeResourcesFit(args.NodeResourcesFit) }],
  ['PodTopologySpread', { weight: 2, make: (args, { lookup }) => podTopologySpread(lookup, args.PodTopologySpread) }],
  ['InterPodAffinity', { weight: 2, make: (args, { lookup }) => interPodAffinity(lookup, args.InterPodAffinity) }],
  ['DefaultPreemption', { make: (_args, { preempting }) => defaultPreemption(preempting) }],
  [
    'NodeResourcesBalancedAllocation',
    { weight: 1, make: (args) => nodeResourcesBalancedAllocation(args.NodeResourcesBalancedAllocation) },
  ],
  ['ImageLocality', { weight: 1, make: () => imageLocality }],
]);
