/** Scheduler profile: the plugins of a scheduler name, and their weights. */
import type { PluginSet, ProfileConfiguration } from './configuration.ts';
import type { Plugin } from './plugin.ts';
import { type PluginArgs, type PluginParts, registry } from './plugins/registry.ts';
import type { PreemptionArgs } from './preemption.ts';

export type Profile = {
  /** Name that Pods refer to by `spec.schedulerName`. */
  readonly schedulerName: string;
  readonly preEnqueue: readonly Plugin[];
  /** In evaluation order. */
  readonly filters: readonly Plugin[];
  readonly scorers: readonly WeightedPlugin[];
  readonly reservers: readonly Plugin[];
  /** Arguments of preemption; preemption is disabled if omitted. */
  readonly preemption?: PreemptionArgs;
  /** Percentage of nodes to find feasible; 0 adapts to the cluster size. */
  readonly percentageOfNodesToScore: number;
};

export type WeightedPlugin = { readonly plugin: Plugin; readonly weight: number };

/** Returns every plugin of a profile once. */
export function pluginsOf({ preEnqueue, filters, scorers, reservers }: Profile): readonly Plugin[] {
  return [...new Set([...preEnqueue, ...filters, ...scorers.map(({ plugin }) => plugin), ...reservers])];
}

/** Creates the profile of a configuration. */
export function createProfile(configuration: ProfileConfiguration, parts: PluginParts): Profile {
  const { schedulerName, percentageOfNodesToScore, plugins: sets, pluginConfig } = configuration;
  const made = new Map<string, Plugin>();
  const pluginOf = (name: string): Plugin => {
    let plugin = made.get(name);
    if (!plugin) made.set(name, (plugin = registered(name).make(pluginConfig as PluginArgs, parts)));
    return plugin;
  };
  const everywhere = mergeSets(defaultSet, sets.multiPoint);
  const enabledAt = (point: string) =>
    expand(everywhere, sets[point]).filter(({ name }) => isAt(point, pluginOf(name)));
  const at = (point: string): readonly Plugin[] => enabledAt(point).map(({ name }) => pluginOf(name));
  const isPreempting = enabledAt('postFilter').some(({ name }) => name === 'DefaultPreemption');
  return {
    schedulerName,
    percentageOfNodesToScore,
    preEnqueue: at('preEnqueue'),
    filters: at('filter'),
    scorers: enabledAt('score').map(({ name, weight }) => ({ plugin: pluginOf(name), weight: weight || 1 })),
    reservers: at('reserve'),
    ...(isPreempting ? { preemption: pluginConfig.DefaultPreemption ?? {} } : {}),
  };
}

function registered(name: string) {
  const found = registry.find((each) => each.name === name);
  if (!found) throw new Error(`plugin "${name}" does not exist`);
  return found;
}

/** Reports whether a plugin implements an extension point. */
function isAt(point: string, plugin: Plugin): boolean {
  switch (point) {
    case 'preEnqueue':
      return plugin.preEnqueue !== undefined;
    case 'filter':
      return plugin.filter !== undefined;
    case 'score':
      return plugin.score !== undefined;
    case 'reserve':
      return plugin.reserve !== undefined;
    default:
      return true;
  }
}

type Enabled = { readonly name: string; readonly weight: number };

const defaultSet: readonly Enabled[] = registry.map(({ name, weight = 0 }) => ({ name, weight }));

function isDisabled({ disabled }: PluginSet, name: string): boolean {
  return disabled.includes('*') || disabled.includes(name);
}

/** Merges the default multiPoint plugins with a set: replaced defaults keep their position, others follow. */
function mergeSets(defaults: readonly Enabled[], set: PluginSet | undefined): readonly Enabled[] {
  if (!set) return defaults;
  const named = new Map(set.enabled.map((each) => [each.name, each]));
  const kept = defaults.filter(({ name }) => !isDisabled(set, name));
  const replaced = kept.map((each) => {
    const own = named.get(each.name);
    return own ? { ...each, weight: own.weight || each.weight } : each;
  });
  const names = new Set(kept.map(({ name }) => name));
  return [...replaced, ...set.enabled.filter(({ name }) => !names.has(name))];
}

/**
 * Returns the plugins of one extension point: plugins enabled both here and by multiPoint come first, in the order
 * given here; then the other multiPoint plugins; then those enabled only here.
 */
function expand(everywhere: readonly Enabled[], set: PluginSet | undefined): readonly Enabled[] {
  if (!set) return everywhere;
  const general = everywhere.filter(({ name }) => !isDisabled(set, name));
  const isGeneral = ({ name }: Enabled) => general.some((each) => each.name === name);
  const isListed = ({ name }: Enabled) => set.enabled.some((each) => each.name === name);
  return [
    ...set.enabled.filter(isGeneral),
    ...general.filter((each) => !isListed(each)),
    ...set.enabled.filter((each) => !isGeneral(each)),
  ];
}
