/** What a scheduler is told: `KubeSchedulerConfiguration` of `kubescheduler.config.k8s.io/v1`. */
import { isObject } from '@kruise/machinery/json-value';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import type { PluginArgs } from './plugins/registry.ts';

export type SchedulerConfiguration = {
  readonly profiles: readonly ProfileConfiguration[];
  readonly podInitialBackoffSeconds: number;
  readonly podMaxBackoffSeconds: number;
  readonly leaderElection: LeaderElectionConfiguration;
};

export type ProfileConfiguration = {
  readonly schedulerName: string;
  readonly percentageOfNodesToScore: number;
  /** By extension point: `multiPoint` is all of them. */
  readonly plugins: { readonly [point: string]: PluginSet };
  readonly pluginConfig: PluginArgs;
};

export type PluginSet = {
  readonly enabled: readonly { readonly name: string; readonly weight: number }[];
  readonly disabled: readonly string[];
};

export type LeaderElectionConfiguration = {
  readonly leaderElect: boolean;
  readonly leaseDurationSeconds: number;
  readonly renewDeadlineSeconds: number;
  readonly retryPeriodSeconds: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
};

const defaultProfile: ProfileConfiguration = {
  schedulerName: 'default-scheduler',
  percentageOfNodesToScore: 0,
  plugins: {},
  pluginConfig: {},
};

export const defaultConfiguration: SchedulerConfiguration = {
  profiles: [defaultProfile],
  podInitialBackoffSeconds: 1,
  podMaxBackoffSeconds: 10,
  leaderElection: {
    leaderElect: true,
    leaseDurationSeconds: 15,
    renewDeadlineSeconds: 10,
    retryPeriodSeconds: 2,
    resourceName: 'kube-scheduler',
    resourceNamespace: 'kube-system',
  },
};

const apiVersion = 'kubescheduler.config.k8s.io/v1';
const kind = 'KubeSchedulerConfiguration';

/** Reads a configuration, as it is in a file. Throws an error that says what is wrong with which field. */
export function readConfiguration(value: unknown): SchedulerConfiguration {
  const root = object(value, '');
  if (root.apiVersion !== apiVersion || root.kind !== kind) {
    throw new Error(
      `no kind "${String(root.kind)}" is registered for version "${String(root.apiVersion)}"; it is ${kind} of ${apiVersion}`,
    );
  }
  if (root.extenders !== undefined && list(root.extenders, 'extenders').length > 0) {
    throw new Error('extenders: not supported');
  }
  const { podInitialBackoffSeconds, podMaxBackoffSeconds } = defaultConfiguration;
  const percentage = integer(root.percentageOfNodesToScore, 'percentageOfNodesToScore', 0, { most: 100 });
  const profiles = list(root.profiles ?? [{}], 'profiles').map((each, index) =>
    readProfile(each, `profiles[${index}]`, percentage),
  );
  const names = profiles.map(({ schedulerName }) => schedulerName);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice >= 0) throw new Error(`profiles[${twice}].schedulerName: Duplicate value: "${names[twice]}"`);
  const configuration = {
    profiles,
    podInitialBackoffSeconds: integer(
      root.podInitialBackoffSeconds,
      'podInitialBackoffSeconds',
      podInitialBackoffSeconds,
      { least: 1 },
    ),
    podMaxBackoffSeconds: integer(root.podMaxBackoffSeconds, 'podMaxBackoffSeconds', podMaxBackoffSeconds, {
      least: 1,
    }),
    leaderElection: readLeaderElection(root.leaderElection),
  };
  if (configuration.podMaxBackoffSeconds < configuration.podInitialBackoffSeconds) {
    throw new Error('podMaxBackoffSeconds: must be greater than or equal to podInitialBackoffSeconds');
  }
  return configuration;
}

function readProfile(value: unknown, path: string, percentage: number): ProfileConfiguration {
  const profile = object(value, path);
  const sets = Object.entries(object(profile.plugins ?? {}, `${path}.plugins`)).map(
    ([point, set]) => [point, readSet(set, `${path}.plugins.${point}`)] as const,
  );
  const configs = list(profile.pluginConfig ?? [], `${path}.pluginConfig`).map((each, index) => {
    const { name, args } = object(each, `${path}.pluginConfig[${index}]`);
    return [
      text(name, `${path}.pluginConfig[${index}].name`),
      object(args ?? {}, `${path}.pluginConfig[${index}].args`),
    ];
  });
  return {
    schedulerName: text(profile.schedulerName ?? defaultProfile.schedulerName, `${path}.schedulerName`),
    percentageOfNodesToScore: integer(
      profile.percentageOfNodesToScore,
      `${path}.percentageOfNodesToScore`,
      percentage,
      { most: 100 },
    ),
    plugins: Object.fromEntries(sets),
    pluginConfig: Object.fromEntries(configs) as PluginArgs,
  };
}

function readSet(value: unknown, path: string): PluginSet {
  const { enabled = [], disabled = [] } = object(value, path);
  const named = (each: unknown, at: string) => ({
    ...object(each, at),
    name: text(object(each, at).name, `${at}.name`),
  });
  return {
    enabled: list(enabled, `${path}.enabled`).map((each, index) => {
      const at = `${path}.enabled[${index}]`;
      const plugin: { readonly name: string; readonly weight?: unknown } = named(each, at);
      return { name: plugin.name, weight: integer(plugin.weight, `${at}.weight`, 0) };
    }),
    disabled: list(disabled, `${path}.disabled`).map((each, index) => named(each, `${path}.disabled[${index}]`).name),
  };
}

function readLeaderElection(value: unknown): LeaderElectionConfiguration {
  const given = object(value ?? {}, 'leaderElection');
  const { leaderElection: defaults } = defaultConfiguration;
  const seconds = (field: string, otherwise: number) =>
    given[field] === undefined
      ? otherwise
      : toMilliseconds(parseDuration(text(given[field], `leaderElection.${field}`))) / 1000;
  return {
    leaderElect: given.leaderElect === undefined ? defaults.leaderElect : given.leaderElect === true,
    leaseDurationSeconds: seconds('leaseDuration', defaults.leaseDurationSeconds),
    renewDeadlineSeconds: seconds('renewDeadline', defaults.renewDeadlineSeconds),
    retryPeriodSeconds: seconds('retryPeriod', defaults.retryPeriodSeconds),
    resourceName: text(given.resourceName ?? defaults.resourceName, 'leaderElection.resourceName'),
    resourceNamespace: text(given.resourceNamespace ?? defaults.resourceNamespace, 'leaderElection.resourceNamespace'),
  };
}

function object(value: unknown, path: string): { readonly [name: string]: unknown } {
  if (!isObject(value)) throw new Error(`${path || 'configuration'}: must be an object`);
  return value;
}

function list(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${path}: must be a list`);
  return value;
}

function text(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`${path}: Required value`);
  return value;
}

function integer(value: unknown, path: string, otherwise: number, { least = 0, most = Infinity } = {}): number {
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    const range = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
    throw new Error(`${path}: Invalid value: ${JSON.stringify(value)}: must be a whole number, ${range}`);
  }
  return value;
}
