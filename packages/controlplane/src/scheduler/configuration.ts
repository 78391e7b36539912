/** Scheduler configuration: `KubeSchedulerConfiguration` of `kubescheduler.config.k8s.io/v1`. */
import { isObject } from '@kruise/machinery/json-value';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import type { ExtenderConfiguration, ExtenderTls } from './extenders/extender.ts';
import type { PluginArgs } from './plugins/registry.ts';

export type SchedulerConfiguration = {
  readonly profiles: readonly ProfileConfiguration[];
  readonly podInitialBackoffSeconds: number;
  readonly podMaxBackoffSeconds: number;
  readonly leaderElection: LeaderElectionConfiguration;
  readonly extenders: readonly ExtenderConfiguration[];
};

export type ProfileConfiguration = {
  readonly schedulerName: string;
  readonly percentageOfNodesToScore: number;
  /** Plugins by extension point; `multiPoint` stands for all of them. */
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
  extenders: [],
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

/** Parses a configuration file. Throws an error with the path of the invalid field. */
export function readConfiguration(value: unknown): SchedulerConfiguration {
  const root = object(value, '');
  if (root.apiVersion !== apiVersion || root.kind !== kind) {
    throw new Error(
      `no kind "${String(root.kind)}" is registered for version "${String(root.apiVersion)}"; it is ${kind} of ${apiVersion}`,
    );
  }
  const extenders = list(root.extenders ?? [], 'extenders').map((each, index) =>
    readExtender(each, `extenders[${index}]`),
  );
  if (extenders.filter(({ bindVerb }) => bindVerb).length > 1) {
    throw new Error('extenders: Invalid value: only one extender can implement bind');
  }
  const { podInitialBackoffSeconds, podMaxBackoffSeconds } = defaultConfiguration;
  const percentage = integer(root.percentageOfNodesToScore, 'percentageOfNodesToScore', 0, { most: 100 });
  const profiles = list(root.profiles ?? [{}], 'profiles').map((each, index) =>
    readProfile(each, `profiles[${index}]`, percentage),
  );
  const names = profiles.map(({ schedulerName }) => schedulerName);
  const duplicateIndex = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (duplicateIndex >= 0)
    throw new Error(`profiles[${duplicateIndex}].schedulerName: Duplicate value: "${names[duplicateIndex]}"`);
  const configuration = {
    profiles: profiles.map((profile) => withIgnored(profile, ignoredResources(root.extenders))),
    extenders,
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

function readExtender(value: unknown, path: string): ExtenderConfiguration {
  const given = object(value, path);
  const verb = (name: string) => (given[name] === undefined ? '' : text(given[name], `${path}.${name}`));
  const tls = given.tlsConfig === undefined ? undefined : object(given.tlsConfig, `${path}.tlsConfig`);
  const weight = integer(given.weight, `${path}.weight`, 0);
  if (given.prioritizeVerb && weight === 0)
    throw new Error(`${path}.weight: Invalid value: must have a positive weight applied to it`);
  const timeout = given.httpTimeout === undefined ? undefined : text(given.httpTimeout, `${path}.httpTimeout`);
  return {
    urlPrefix: text(given.urlPrefix, `${path}.urlPrefix`),
    filterVerb: verb('filterVerb'),
    prioritizeVerb: verb('prioritizeVerb'),
    preemptVerb: verb('preemptVerb'),
    bindVerb: verb('bindVerb'),
    weight,
    nodeCacheCapable: given.nodeCacheCapable === true,
    ignorable: given.ignorable === true,
    managedResources: managedResources(given, path).map(({ name }) => name),
    httpTimeoutMs: timeout === undefined ? 5000 : toMilliseconds(parseDuration(timeout)),
    ...(tls ? { tls: readTls(tls, `${path}.tlsConfig`) } : {}),
  };
}

function readTls(given: { readonly [name: string]: unknown }, path: string): ExtenderTls {
  const names = ['serverName', 'caFile', 'certFile', 'keyFile'].filter((name) => given[name] !== undefined);
  const fields = Object.fromEntries(names.map((name) => [name, text(given[name], `${path}.${name}`)]));
  return { ...fields, ...(given.insecure === true ? { insecure: true } : {}) };
}

function managedResources(extender: { readonly [name: string]: unknown }, path: string) {
  return list(extender.managedResources ?? [], `${path}.managedResources`).map((each, index) => {
    const at = `${path}.managedResources[${index}]`;
    const { name, ignoredByScheduler } = object(each, at);
    return { name: text(name, `${at}.name`), isIgnored: ignoredByScheduler === true };
  });
}

/** Returns the resources that extenders manage and the scheduler ignores. */
function ignoredResources(extenders: unknown): readonly string[] {
  return list(extenders ?? [], 'extenders').flatMap((each, index) => {
    const path = `extenders[${index}]`;
    return managedResources(object(each, path), path).flatMap(({ name, isIgnored }) => (isIgnored ? name : []));
  });
}

function withIgnored(profile: ProfileConfiguration, ignored: readonly string[]): ProfileConfiguration {
  if (ignored.length === 0) return profile;
  const args = { ...profile.pluginConfig.NodeResourcesFit, ignoredResources: ignored };
  return { ...profile, pluginConfig: { ...profile.pluginConfig, NodeResourcesFit: args } };
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
  const seconds = (field: string, fallback: number) =>
    given[field] === undefined
      ? fallback
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

function integer(value: unknown, path: string, fallback: number, { least = 0, most = Infinity } = {}): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    const range = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
    throw new Error(`${path}: Invalid value: ${JSON.stringify(value)}: must be a whole number, ${range}`);
  }
  return value;
}
