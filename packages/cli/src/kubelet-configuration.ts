/**
 * Configuration of `kruise kubelet`: files and flags. A field with a flag takes effect as its flag; flags on the command
 * line override the file.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Taint } from '@kruise/api/core/node';
import {
  type ConfigurationValues,
  configurationObject,
  decodeConfiguration,
  fieldsWithEffect,
  KubeletConfigurationError,
  mergeDocuments,
  withConfigurationDefaults,
} from '@kruise/node/kubelet/configuration/configuration';
import { configurationFields } from '@kruise/node/kubelet/configuration/fields';
import { configurationFaults } from '@kruise/node/kubelet/configuration/validate';
import type { LogLimits } from '@kruise/node/kubelet/eviction/log-rotation';
import type { KubeletOptions } from '@kruise/node/kubelet/kubelet-options';
import { hasUnifiedCgroups, machineDns } from '@kruise/node/kubelet/node/machine';
import { parseYamlText } from '@kruise/schema/yaml-text';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import type { KubeletFlags } from './kubelet-flags.ts';
import { parseTaints } from './taints.ts';

/** Fields of the configuration by flag. */
const flagFields = {
  podManifestPath: 'staticPodPath',
  podLogsDir: 'podLogsDir',
  address: 'address',
  port: 'port',
  healthzPort: 'healthzPort',
  clientCaFile: 'authentication.x509.clientCAFile',
  rotateServerCertificates: 'serverTLSBootstrap',
  registryQps: 'registryPullQPS',
  registryBurst: 'registryBurst',
  oomScoreAdj: 'oomScoreAdj',
  clusterDomain: 'clusterDomain',
  clusterDns: 'clusterDNS',
  cgroupRoot: 'cgroupRoot',
  cgroupsPerQos: 'cgroupsPerQOS',
  cgroupDriver: 'cgroupDriver',
  maxPods: 'maxPods',
  podMaxPids: 'podPidsLimit',
  cpuCfsQuota: 'cpuCFSQuota',
  cpuCfsQuotaPeriod: 'cpuCFSQuotaPeriod',
  memorySwapBehavior: 'memorySwap.swapBehavior',
  evictionHard: 'evictionHard',
  evictionSoft: 'evictionSoft',
  evictionSoftGracePeriod: 'evictionSoftGracePeriod',
  evictionMaxPodGracePeriod: 'evictionMaxPodGracePeriod',
  featureGates: 'featureGates',
  containerLogMaxSize: 'containerLogMaxSize',
  containerLogMaxFiles: 'containerLogMaxFiles',
  kubeReserved: 'kubeReserved',
  systemReserved: 'systemReserved',
  kubeReservedCgroup: 'kubeReservedCgroup',
  systemReservedCgroup: 'systemReservedCgroup',
  enforceNodeAllocatable: 'enforceNodeAllocatable',
  registerWithTaints: 'registerWithTaints',
  containerRuntimeEndpoint: 'containerRuntimeEndpoint',
} as const satisfies { readonly [name in keyof KubeletFlags]?: string };

/** Flags with the fields of the configuration applied, and the fields that have no flag. */
export type KubeletStart = {
  readonly flags: KubeletFlags;
  readonly options: Pick<KubeletOptions, 'providerId' | 'imageGC' | 'configuration'>;
  readonly hostDns: ReturnType<typeof machineDns>;
  readonly healthzBindAddress: string;
  readonly logIntervalMs: LogLimits['intervalMs'];
  /** Files of the serving certificate and its key. */
  readonly servingFiles: { readonly certificate: string; readonly key: string } | undefined;
  /** Fields and flags that are set and have no effect here. */
  readonly ignored: readonly string[];
};

/**
 * Returns what the kubelet starts with. `given` are the names of the flags on the command line. Throws an error that
 * names all faults of the configuration.
 */
export function kubeletStart(flags: KubeletFlags, given: ReadonlySet<string> = new Set()): KubeletStart {
  const hasFile = flags.config !== undefined || flags.configDir !== undefined;
  const file = hasFile ? readConfiguration(flags) : {};
  const overrides = valuesOfFlags(flags, (name) => !hasFile || given.has(name));
  const gates = { ...(file.featureGates as object | undefined), ...(overrides.featureGates as object | undefined) };
  const values = withConfigurationDefaults({ ...file, ...overrides, featureGates: gates });
  if (hasFile) {
    const faults = configurationFaults(values);
    if (faults.length > 0) throw new KubeletConfigurationError('invalid kubelet configuration', faults);
  }
  if (values.failCgroupV1 === true && !hasUnifiedCgroups()) {
    throw new Error('failCgroupV1 is set, and this machine uses cgroup v1');
  }
  const certificate = String(values.tlsCertFile);
  const resolver = String(values.resolvConf);
  return {
    flags: hasFile ? { ...flags, ...flagsOfValues(values) } : flags,
    options: {
      ...(values.providerID === '' ? {} : { providerId: String(values.providerID) }),
      imageGC: {
        highPercent: Number(values.imageGCHighThresholdPercent),
        lowPercent: Number(values.imageGCLowThresholdPercent),
        minimumAgeMs: milliseconds(values.imageMinimumGCAge),
      },
      configuration: configurationObject(values),
    },
    hostDns: resolver === '' ? { servers: [], searches: [], options: [] } : machineDns(resolver),
    healthzBindAddress: String(values.healthzBindAddress),
    logIntervalMs: milliseconds(values.containerLogMonitorInterval),
    servingFiles: certificate === '' ? undefined : { certificate, key: String(values.tlsPrivateKeyFile) },
    ignored: [
      ...fieldsWithEffect(values, 'ignored'),
      // Only the client certificate of a bootstrap kubeconfig is rotated, and that always.
      ...(values.rotateCertificates === true && flags.bootstrapKubeconfig === undefined ? ['rotateCertificates'] : []),
      ...(flags.podInfraContainerImage === undefined ? [] : ['--pod-infra-container-image']),
    ],
  };
}

/** Reads the configuration file and its drop-ins. */
function readConfiguration({ config, configDir }: KubeletFlags): ConfigurationValues {
  const files = [...(config === undefined ? [] : [config]), ...(configDir === undefined ? [] : dropInsOf(configDir))];
  let merged: unknown = {};
  for (const file of files) {
    const { value, duplicates } = parseFile(file);
    // Each file is decoded on its own, so that a fault names its file.
    const values = decodeConfiguration(value, file, duplicates);
    merged = mergeDocuments(mergeDocuments(merged, value), absolutePaths(values, dirname(file)));
  }
  return files.length === 0 ? {} : decodeConfiguration(merged, files.join(', '));
}

function parseFile(file: string) {
  try {
    return parseYamlText(readFileSync(file));
  } catch (error) {
    throw new Error(`failed to load kubelet config file ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the drop-ins below a directory in the lexical order of a walk. */
function dropInsOf(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return dropInsOf(path);
      return entry.name.endsWith('.conf') ? [path] : [];
    });
}

/** Returns the relative paths of a file as paths from the directory of the file. */
function absolutePaths(values: ConfigurationValues, directory: string): object {
  return configurationObject(
    Object.fromEntries(
      Object.entries(values)
        .filter(([path, value]) => configurationFields[path]?.type === 'path' && value !== '')
        .map(([path, value]) => [path, resolve(directory, String(value))]),
    ),
  );
}

function valuesOfFlags(flags: KubeletFlags, isIncluded: (name: string) => boolean): ConfigurationValues {
  return Object.fromEntries(
    Object.entries(flagFields).flatMap(([name, path]) => {
      const text = flags[name as keyof typeof flagFields];
      return text === undefined || !isIncluded(name) ? [] : [[path, parseFlag(path, text)]];
    }),
  );
}

/** Returns the value of a field in the syntax of its flag. */
function parseFlag(path: string, text: string | boolean): unknown {
  const parts = String(text)
    .split(',')
    .filter((each) => each !== '');
  if (path === 'registerWithTaints') return parseTaints(String(text));
  switch (configurationFields[path]?.type) {
    case 'boolean':
      return text === true || text === 'true';
    case 'integer':
      return Number(text);
    case 'strings':
      return parts;
    case 'string map':
      return Object.fromEntries(parts.map(pairOf));
    case 'boolean map':
      return Object.fromEntries(parts.map(pairOf).map(([name, value]) => [name, /^(1|t|true)$/i.test(value)]));
    default:
      return text;
  }
}

/** Splits `name=value` and `signal<value`. */
function pairOf(part: string): readonly [name: string, value: string] {
  const at = part.search(/[=<]/);
  return at < 0 ? [part.trim(), ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
}

function flagsOfValues(values: ConfigurationValues): Partial<KubeletFlags> {
  return Object.fromEntries(
    Object.entries(flagFields).map(([name, path]) => {
      const value = formatFlag(path, values[path]);
      const isAbsent = value === '' && optionalPaths.has(path);
      return [name, isAbsent ? undefined : value];
    }),
  ) as Partial<KubeletFlags>;
}

/** Fields whose flags have no value by default. */
const optionalPaths: ReadonlySet<string> = new Set([
  'staticPodPath',
  'authentication.x509.clientCAFile',
  'cgroupRoot',
  'kubeReserved',
  'systemReserved',
  'kubeReservedCgroup',
  'systemReservedCgroup',
  'registerWithTaints',
]);

/** Formats the value of a field in the syntax of its flag. */
function formatFlag(path: string, value: unknown): string | boolean {
  const joined = (separator: string, entries: readonly (readonly [string, unknown])[]) =>
    entries.map(([name, each]) => `${name}${separator}${each}`).join(',');
  switch (path) {
    case 'serverTLSBootstrap':
      return value === true;
    case 'registerWithTaints':
      return (value as readonly Taint[])
        .map(({ key, value: of, effect }) => `${key}${of ? `=${of}` : ''}:${effect}`)
        .join(',');
    case 'evictionHard':
    case 'evictionSoft':
      // A threshold of 0% or 100% disables the signal.
      return joined(
        '<',
        Object.entries(value as object).filter(([, amount]) => !/^(?:0|100)(?:\.0*)?%$/.test(amount)),
      );
    case 'memorySwap.swapBehavior':
      return value === '' ? 'NoSwap' : String(value);
    case 'enforceNodeAllocatable':
      return (value as readonly string[]).join(',') || 'none';
    default:
      if (Array.isArray(value)) return value.join(',');
      return typeof value === 'object' ? joined('=', Object.entries(value as object)) : String(value);
  }
}

/** Returns the maximum number of Pods: that of the node, or fewer by the number of its cores. */
export function maxPodsOf({ maxPods }: KubeletFlags, { options: { configuration } }: KubeletStart): number {
  const { podsPerCore = 0 } = configuration as { readonly podsPerCore?: number };
  return podsPerCore > 0 ? Math.min(Number(maxPods), podsPerCore * cpus().length) : Number(maxPods);
}

function milliseconds(value: unknown): number {
  return toMilliseconds(parseDuration(String(value)));
}
