/** Configuration of kube-proxy: `KubeProxyConfiguration` of `kubeproxy.config.k8s.io/v1alpha1`. */
import { isObject } from '@kruise/machinery/json-value';
import { parseLegacyPrefix } from '@kruise/values/address';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';

export type DetectLocalMode = 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';

export type RuleConfiguration = {
  readonly masqueradeAll: boolean;
  readonly masqueradeBit: number;
  readonly minSyncPeriodMs: number;
  readonly syncPeriodMs: number;
};

export type ConntrackConfiguration = {
  readonly maxPerCore: number;
  readonly min: number;
  readonly tcpEstablishedTimeoutMs: number;
  readonly tcpCloseWaitTimeoutMs: number;
  readonly tcpBeLiberal: boolean;
  readonly udpTimeoutMs: number;
  readonly udpStreamTimeoutMs: number;
};

export type ProxyConfiguration = {
  /** Empty: chosen by what the kernel and the installed programs can do. */
  readonly mode: '' | 'nftables' | 'iptables';
  readonly bindAddress: string;
  readonly healthzBindAddress: string;
  readonly metricsBindAddress: string;
  readonly bindAddressHardFail: boolean;
  readonly clusterCIDR: string;
  readonly detectLocalMode: DetectLocalMode;
  readonly bridgeInterface: string;
  readonly interfaceNamePrefix: string;
  readonly hostnameOverride: string;
  readonly kubeconfig: string;
  readonly nodePortAddresses: readonly string[];
  readonly configSyncPeriodMs: number;
  readonly oomScoreAdj: number | undefined;
  readonly iptables: RuleConfiguration & { readonly localhostNodePorts: boolean };
  readonly nftables: RuleConfiguration;
  readonly conntrack: ConntrackConfiguration;
};

const defaultRules: RuleConfiguration = {
  masqueradeAll: false,
  masqueradeBit: 14,
  minSyncPeriodMs: 1000,
  syncPeriodMs: 30_000,
};

export const defaultProxyConfiguration: ProxyConfiguration = {
  mode: '',
  bindAddress: '0.0.0.0',
  healthzBindAddress: '0.0.0.0:10256',
  metricsBindAddress: '127.0.0.1:10249',
  bindAddressHardFail: false,
  clusterCIDR: '',
  detectLocalMode: 'ClusterCIDR',
  bridgeInterface: '',
  interfaceNamePrefix: '',
  hostnameOverride: '',
  kubeconfig: '',
  nodePortAddresses: [],
  configSyncPeriodMs: 15 * 60_000,
  oomScoreAdj: -999,
  iptables: { ...defaultRules, localhostNodePorts: true },
  nftables: defaultRules,
  conntrack: {
    maxPerCore: 32_768,
    min: 131_072,
    tcpEstablishedTimeoutMs: 24 * 3_600_000,
    tcpCloseWaitTimeoutMs: 3_600_000,
    tcpBeLiberal: false,
    udpTimeoutMs: 0,
    udpStreamTimeoutMs: 0,
  },
};

const apiVersion = 'kubeproxy.config.k8s.io/v1alpha1';
const kind = 'KubeProxyConfiguration';
const localModes: readonly DetectLocalMode[] = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'];

/** Fields that have no effect here: those of other modes and platforms, and those that every component has. */
const ignoredFields = new Set([
  'apiVersion',
  'kind',
  'featureGates',
  'enableProfiling',
  'logging',
  'portRange',
  'showHiddenMetricsForVersion',
  'ipvs',
  'winkernel',
  'windowsRunAsService',
]);

/** Parses a configuration file. Throws an error with the path of the invalid field. */
export function readProxyConfiguration(value: unknown): ProxyConfiguration {
  const root = objectAt(value, '');
  if (root.apiVersion !== apiVersion || root.kind !== kind) {
    throw new Error(
      `no kind "${String(root.kind)}" is registered for version "${String(root.apiVersion)}"; it is ${kind} of ${apiVersion}`,
    );
  }
  const known = new Set([
    ...Object.keys(readers),
    ...ignoredFields,
    'clientConnection',
    'configSyncPeriod',
    'detectLocal',
    'iptables',
    'nftables',
    'conntrack',
  ]);
  for (const name of Object.keys(root)) if (!known.has(name)) throw new Error(`${name}: unknown field`);
  const defaults = defaultProxyConfiguration;
  const simple = Object.fromEntries(
    Object.entries(readers).flatMap(([name, read]) => {
      const given = root[name];
      return given === undefined || given === null ? [] : [[name, read(given, name)]];
    }),
  ) as Partial<ProxyConfiguration>;
  const connection = objectAt(root.clientConnection ?? {}, 'clientConnection');
  const detectLocal = objectAt(root.detectLocal ?? {}, 'detectLocal');
  const iptables = objectAt(root.iptables ?? {}, 'iptables');
  const conntrack = fields(root.conntrack, 'conntrack');
  return validated({
    ...defaults,
    ...withoutEmpty(simple, ['detectLocalMode', 'bindAddress', 'healthzBindAddress', 'metricsBindAddress']),
    kubeconfig: text(connection.kubeconfig ?? '', 'clientConnection.kubeconfig'),
    bridgeInterface: text(detectLocal.bridgeInterface ?? '', 'detectLocal.bridgeInterface'),
    interfaceNamePrefix: text(detectLocal.interfaceNamePrefix ?? '', 'detectLocal.interfaceNamePrefix'),
    configSyncPeriodMs:
      duration(root.configSyncPeriod, 'configSyncPeriod', defaults.configSyncPeriodMs) || defaults.configSyncPeriodMs,
    iptables: {
      ...readRules(iptables, 'iptables'),
      localhostNodePorts:
        iptables.localhostNodePorts === undefined || iptables.localhostNodePorts === null
          ? true
          : boolean(iptables.localhostNodePorts, 'iptables.localhostNodePorts'),
    },
    nftables: readRules(objectAt(root.nftables ?? {}, 'nftables'), 'nftables'),
    conntrack: {
      maxPerCore: conntrack.integer('maxPerCore', defaults.conntrack.maxPerCore),
      min: conntrack.integer('min', defaults.conntrack.min),
      tcpEstablishedTimeoutMs: conntrack.duration('tcpEstablishedTimeout', defaults.conntrack.tcpEstablishedTimeoutMs),
      tcpCloseWaitTimeoutMs: conntrack.duration('tcpCloseWaitTimeout', defaults.conntrack.tcpCloseWaitTimeoutMs),
      tcpBeLiberal: conntrack.boolean('tcpBeLiberal', false),
      udpTimeoutMs: conntrack.duration('udpTimeout', 0),
      udpStreamTimeoutMs: conntrack.duration('udpStreamTimeout', 0),
    },
  });
}

/** Checks values that flags and files have in common. Throws an error with the path of the invalid field. */
export function validated(configuration: ProxyConfiguration): ProxyConfiguration {
  const { mode, clusterCIDR, detectLocalMode, nodePortAddresses, bridgeInterface, interfaceNamePrefix } = configuration;
  if (!['', 'iptables', 'nftables'].includes(mode)) {
    throw new Error(`mode: Unsupported value: "${mode}": supported values: "iptables", "nftables"`);
  }
  if (!localModes.includes(detectLocalMode)) {
    throw new Error(
      `detectLocalMode: Unsupported value: "${detectLocalMode}": supported values: ${localModes.map((each) => `"${each}"`).join(', ')}`,
    );
  }
  if (detectLocalMode === 'BridgeInterface' && bridgeInterface === '') {
    throw new Error('detectLocal.bridgeInterface: Required value with detectLocalMode BridgeInterface');
  }
  if (detectLocalMode === 'InterfaceNamePrefix' && interfaceNamePrefix === '') {
    throw new Error('detectLocal.interfaceNamePrefix: Required value with detectLocalMode InterfaceNamePrefix');
  }
  for (const name of [bridgeInterface, interfaceNamePrefix]) {
    if (!/^[A-Za-z0-9_.-]{0,15}$/.test(name))
      throw new Error(`detectLocal: Invalid value: "${name}": must be an interface name`);
  }
  for (const range of clusterCIDR.split(',').filter((each) => each !== '')) prefix(range.trim(), 'clusterCIDR');
  if (!(nodePortAddresses.length === 1 && nodePortAddresses[0] === 'primary')) {
    for (const [index, range] of nodePortAddresses.entries()) prefix(range, `nodePortAddresses[${index}]`);
  }
  for (const [name, rules] of Object.entries({ iptables: configuration.iptables, nftables: configuration.nftables })) {
    if (rules.syncPeriodMs <= 0) throw new Error(`${name}.syncPeriod: Invalid value: must be greater than 0`);
    if (rules.minSyncPeriodMs > rules.syncPeriodMs) {
      throw new Error(`${name}.syncPeriod: Invalid value: must be greater than or equal to ${name}.minSyncPeriod`);
    }
    if (rules.masqueradeBit < 0 || rules.masqueradeBit > 31) {
      throw new Error(`${name}.masqueradeBit: Invalid value: ${rules.masqueradeBit}: must be within the range [0, 31]`);
    }
  }
  return configuration;
}

const readers = {
  mode: text,
  bindAddress: text,
  healthzBindAddress: text,
  metricsBindAddress: text,
  bindAddressHardFail: boolean,
  clusterCIDR: text,
  detectLocalMode: text,
  hostnameOverride: text,
  nodePortAddresses: texts,
  oomScoreAdj: integer,
} as const;

function readRules(given: { readonly [name: string]: unknown }, path: string): RuleConfiguration {
  const own = fields(given, path);
  return {
    masqueradeAll: own.boolean('masqueradeAll', defaultRules.masqueradeAll),
    masqueradeBit: own.integer('masqueradeBit', defaultRules.masqueradeBit),
    minSyncPeriodMs: own.duration('minSyncPeriod', defaultRules.minSyncPeriodMs),
    // A period of zero is what kubeadm writes for the default.
    syncPeriodMs: own.duration('syncPeriod', 0) || defaultRules.syncPeriodMs,
  };
}

function fields(value: unknown, path: string) {
  const given = objectAt(value ?? {}, path);
  const read = <T>(name: string, fallback: T, parse: (each: unknown, at: string) => T): T =>
    given[name] === undefined || given[name] === null ? fallback : parse(given[name], `${path}.${name}`);
  return {
    integer: (name: string, fallback: number) => read(name, fallback, integer),
    boolean: (name: string, fallback: boolean) => read(name, fallback, boolean),
    duration: (name: string, fallback: number) => duration(given[name], `${path}.${name}`, fallback),
  };
}

function withoutEmpty<T extends object>(given: T, names: readonly (keyof T)[]): T {
  const entries = Object.entries(given).filter(([name, value]) => !(names.includes(name as keyof T) && value === ''));
  return Object.fromEntries(entries) as T;
}

function objectAt(value: unknown, path: string): { readonly [name: string]: unknown } {
  if (!isObject(value)) throw new Error(`${path || 'configuration'}: must be an object`);
  return value;
}

function text(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new Error(`${path}: must be a string`);
  return value;
}

function texts(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) throw new Error(`${path}: must be a list`);
  return value.map((each, index) => text(each, `${path}[${index}]`));
}

function boolean(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw new Error(`${path}: must be true or false`);
  return value;
}

function integer(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new Error(`${path}: must be a whole number`);
  return value;
}

function duration(value: unknown, path: string, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  try {
    return toMilliseconds(parseDuration(text(value, path)));
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

function prefix(range: string, path: string): void {
  try {
    parseLegacyPrefix(range);
  } catch (error) {
    throw new Error(`${path}: Invalid value: "${range}": must be a valid CIDR block`, { cause: error });
  }
}
