/** A scheduler of its own name: which plugins judge for it, and how much each counts. */
import type { Plugin } from './plugin.ts';
import { type PluginParts, registry } from './plugins/registry.ts';
import type { PreemptionArgs } from './preemption.ts';

export type Profile = {
  /** Pods ask for it by `spec.schedulerName`. */
  readonly schedulerName: string;
  readonly preEnqueue: readonly Plugin[];
  /** In the order they are asked. */
  readonly filters: readonly Plugin[];
  readonly scorers: readonly WeightedPlugin[];
  /** How others are made to leave for Pods of more importance; they are not, where it is left out. */
  readonly preemption?: PreemptionArgs;
  /** How many of the nodes are enough to choose among, in percent; 0 leaves it to their number. */
  readonly percentageOfNodesToScore: number;
};

export type WeightedPlugin = { readonly plugin: Plugin; readonly weight: number };

/** Every plugin of a profile, each once. */
export function pluginsOf({ preEnqueue, filters, scorers }: Profile): readonly Plugin[] {
  return [...new Set([...preEnqueue, ...filters, ...scorers.map(({ plugin }) => plugin)])];
}

/** What Pods get that ask for nothing else. */
export function defaultProfile(parts: PluginParts): Profile {
  const plugins = [...registry.values()].map(({ weight = 0, make }) => ({ plugin: make({}, parts), weight }));
  return {
    schedulerName: 'default-scheduler',
    preEnqueue: plugins.map(({ plugin }) => plugin).filter(({ preEnqueue }) => preEnqueue),
    filters: plugins.map(({ plugin }) => plugin).filter(({ filter }) => filter),
    scorers: plugins.filter(({ plugin }) => plugin.score),
    preemption: {},
    percentageOfNodesToScore: 0,
  };
}
