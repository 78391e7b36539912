/** Every plugin there is, in the order they are asked, and how much its scores count by default. */
import type { Plugin } from '../plugin.ts';
import { imageLocality } from './image-locality.ts';
import { type NodeAffinityArgs, nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { type BalancedAllocationArgs, nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts';
import { type NodeResourcesFitArgs, nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { schedulingGates } from './scheduling-gates.ts';
import { taintToleration } from './taint-toleration.ts';

/** What plugins can be told, by their names. */
export type PluginArgs = {
  readonly NodeAffinity?: NodeAffinityArgs;
  readonly NodeResourcesFit?: NodeResourcesFitArgs;
  readonly NodeResourcesBalancedAllocation?: BalancedAllocationArgs;
};

export type RegisteredPlugin = { readonly weight?: number; readonly make: (args: PluginArgs) => Plugin };

export const registry: ReadonlyMap<string, RegisteredPlugin> = new Map<string, RegisteredPlugin>([
  ['SchedulingGates', { make: () => schedulingGates }],
  ['NodeUnschedulable', { make: () => nodeUnschedulable }],
  ['NodeName', { make: () => nodeName }],
  ['TaintToleration', { weight: 3, make: () => taintToleration }],
  ['NodeAffinity', { weight: 2, make: (args) => nodeAffinity(args.NodeAffinity) }],
  ['NodePorts', { make: () => nodePorts }],
  ['NodeResourcesFit', { weight: 1, make: (args) => nodeResourcesFit(args.NodeResourcesFit) }],
  [
    'NodeResourcesBalancedAllocation',
    { weight: 1, make: (args) => nodeResourcesBalancedAllocation(args.NodeResourcesBalancedAllocation) },
  ],
  ['ImageLocality', { weight: 1, make: () => imageLocality }],
]);
