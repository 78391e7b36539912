/** Plugin registry: all plugins in their default order, with their default weights. */
import type { Lookup } from '../cluster/lookup.ts';
import type { Plugin } from '../plugin.ts';
import type { PreemptionArgs } from '../preemption.ts';
import type { BindingDependencies } from '../volumes/bind-volumes.ts';
import { defaultPreemption } from './default-preemption.ts';
import { imageLocality } from './image-locality.ts';
import { type InterPodAffinityArgs, interPodAffinity } from './inter-pod-affinity.ts';
import { type NodeAffinityArgs, nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { type BalancedAllocationArgs, nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts';
import { type NodeResourcesFitArgs, nodeResourcesFit } from './node-resources-fit.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';
import { type PodTopologySpreadArgs, podTopologySpread } from './pod-topology-spread.ts';
import { schedulingGates } from './scheduling-gates.ts';
import { taintToleration } from './taint-toleration.ts';
import { type VolumeBindingArgs, volumeBinding } from './volume-binding.ts';
import { volumeRestrictions } from './volume-restrictions.ts';
import { volumeZone } from './volume-zone.ts';

/** Plugin arguments by plugin name. */
export type PluginArgs = {
  readonly DefaultPreemption?: PreemptionArgs;
  readonly InterPodAffinity?: InterPodAffinityArgs;
  readonly NodeAffinity?: NodeAffinityArgs;
  readonly NodeResourcesBalancedAllocation?: BalancedAllocationArgs;
  readonly NodeResourcesFit?: NodeResourcesFitArgs;
  readonly PodTopologySpread?: PodTopologySpreadArgs;
  readonly VolumeBinding?: VolumeBindingArgs;
};

/** Dependencies of plugins besides their arguments. */
export type PluginParts = {
  readonly lookup: Lookup;
  readonly volumes: Omit<BindingDependencies, 'timeoutSeconds'>;
  /** UIDs of the Pods whose victims are being evicted. */
  readonly preempting: ReadonlySet<string>;
};

export type RegisteredPlugin = {
  readonly name: string;
  readonly weight?: number;
  readonly make: (args: PluginArgs, parts: PluginParts) => Plugin;
};

export const registry: readonly RegisteredPlugin[] = [
  { name: 'SchedulingGates', make: () => schedulingGates },
  // There is only one queue sort and one binder.
  { name: 'PrioritySort', make: () => ({ name: 'PrioritySort' }) },
  { name: 'NodeUnschedulable', make: () => nodeUnschedulable },
  { name: 'NodeName', make: () => nodeName },
  { name: 'TaintToleration', weight: 3, make: () => taintToleration },
  { name: 'NodeAffinity', weight: 2, make: (args) => nodeAffinity(args.NodeAffinity) },
  { name: 'NodePorts', make: () => nodePorts },
  { name: 'NodeResourcesFit', weight: 1, make: (args) => nodeResourcesFit(args.NodeResourcesFit) },
  { name: 'VolumeRestrictions', make: (_args, { volumes }) => volumeRestrictions(volumes.storage) },
  { name: 'NodeVolumeLimits', make: (_args, { volumes }) => nodeVolumeLimits(volumes.storage) },
  { name: 'VolumeBinding', make: (args, { volumes }) => volumeBinding(volumes, args.VolumeBinding) },
  { name: 'VolumeZone', make: (_args, { volumes }) => volumeZone(volumes.storage) },
  {
    name: 'PodTopologySpread',
    weight: 2,
    make: (args, { lookup }) => podTopologySpread(lookup, args.PodTopologySpread),
  },
  { name: 'InterPodAffinity', weight: 2, make: (args, { lookup }) => interPodAffinity(lookup, args.InterPodAffinity) },
  { name: 'DefaultPreemption', make: (_args, { preempting }) => defaultPreemption(preempting) },
  {
    name: 'NodeResourcesBalancedAllocation',
    weight: 1,
    make: (args) => nodeResourcesBalancedAllocation(args.NodeResourcesBalancedAllocation),
  },
  { name: 'ImageLocality', weight: 1, make: () => imageLocality },
  { name: 'DefaultBinder', make: () => ({ name: 'DefaultBinder' }) },
];
