/** A scheduler of its own name: which plugins judge for it, and how much each counts. */
import type { PluginSet, ProfileConfiguration } from './configuration.ts';
import type { Plugin } from './plugin.ts';
import { type PluginArgs, type PluginParts, registry } from './plugins/registry.ts';
import type { PreemptionArgs } from './preemption.ts';

export type Profile = {
  /** Pods ask for it by `spec.schedulerName`. */
  readonly schedulerName: string;
  readonly preEnqueue: readonly Plugin[];
  /** In the order they are asked. */
  readonly filters: readonly Plugin[];
  readonly scorers: readonly WeightedPlugin[];
  readonly reservers: readonly Plugin[];
  /** How others are made to leave for Pods of more importance; they are not, where it is left out. */
  readonly preemption?: PreemptionArgs;
  /** How many of the nodes are enough to choose among, in percent; 0 leaves it to their number. */
  readonly percentageOfNodesToScore: number;
};

export type WeightedPlugin = { readonly plugin: Plugin; readonly weight: number };

/** Every plugin of a profile, each once. */
export function pluginsOf({ preEnqueue, filters, scorers, reservers }: Profile): readonly Plugin[] {
  return [...new Set([...preEnqueue, ...filters, ...scorers.map(({ plugin }) => plugin), ...reservers])];
}

/** The profile that a configuration describes. */
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

/** Whether a plugin has a part to play at a point. */
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

/** What is enabled everywhere: the defaults, some replaced where they are, and others after them. */
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
 * What is enabled at one point: plugins that are named here and everywhere come first, in the order named here; then
 * the others that are enabled everywhere; then those that are named here alone.
 */
function expand(everywhere: readonly Enabled[], set: PluginSet | undefined): readonly Enabled[] {
  if (!set) return everywhere;
  const general = everywhere.filter(({ name }) => !isDisabled(set, name));
  const isGeneral = ({ name }: Enabled) => general.some((each) => each.name === name);
  const isNamed = ({ name }: Enabled) => set.enabled.some((each) => each.name === name);
  return [
    ...set.enabled.filter(isGeneral),
    ...general.filter((each) => !isNamed(each)),
    ...set.enabled.filter((each) => !isGeneral(each)),
  ];
}
