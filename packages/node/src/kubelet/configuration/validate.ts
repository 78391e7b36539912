/** Validates a `KubeletConfiguration` with defaults, as Kubernetes v1.33 does. */
import { isAddress } from '@kruise/values/address';
import { parseDuration } from '@kruise/values/duration';
import { parseQuantity } from '@kruise/values/quantity';
import { isSignal } from '../eviction/eviction.ts';
import { type ConfigurationValues, fieldsWithEffect } from './configuration.ts';
import { configurationFields } from './fields.ts';

/** Returns all faults of a configuration, and the fields that this kubelet has no equivalent for. */
export function configurationFaults(values: ConfigurationValues): readonly string[] {
  return [
    ...rangeFaults(values),
    ...choiceFaults(values),
    ...formFaults(values),
    ...allocatableFaults(values),
    ...evictionFaults(values),
    ...combinationFaults(values),
    ...fieldsWithEffect(values, 'unsupported').map(
      (path) => `${path} ${JSON.stringify(values[path])} is not supported${alternative(path)}`,
    ),
  ];
}

function alternative(path: string): string {
  const value = configurationFields[path]?.default;
  return value === undefined ? ': remove the field' : `: remove the field, or set ${JSON.stringify(value)}`;
}

/** Ranges by field: a flag has the same range as its field. */
const ranges: { readonly [path: string]: readonly [least: number, greatest: number] } = {
  port: [1, 65_535],
  readOnlyPort: [0, 65_535],
  healthzPort: [0, 65_535],
  registryPullQPS: [0, Number.POSITIVE_INFINITY],
  registryBurst: [0, Number.POSITIVE_INFINITY],
  eventRecordQPS: [0, Number.POSITIVE_INFINITY],
  eventBurst: [0, Number.POSITIVE_INFINITY],
  kubeAPIQPS: [0, Number.POSITIVE_INFINITY],
  kubeAPIBurst: [0, Number.POSITIVE_INFINITY],
  nodeLeaseDurationSeconds: [1, Number.POSITIVE_INFINITY],
  imageGCHighThresholdPercent: [0, 100],
  imageGCLowThresholdPercent: [0, 100],
  iptablesMasqueradeBit: [0, 31],
  iptablesDropBit: [0, 31],
  nodeStatusMaxImages: [-1, Number.POSITIVE_INFINITY],
  maxOpenFiles: [0, Number.POSITIVE_INFINITY],
  maxPods: [0, Number.POSITIVE_INFINITY],
  podsPerCore: [0, Number.POSITIVE_INFINITY],
  oomScoreAdj: [-1000, 1000],
  maxParallelImagePulls: [1, Number.POSITIVE_INFINITY],
  containerLogMaxFiles: [2, Number.POSITIVE_INFINITY],
  containerLogMaxWorkers: [1, Number.POSITIVE_INFINITY],
  evictionMaxPodGracePeriod: [0, Number.POSITIVE_INFINITY],
};

function* rangeFaults(values: ConfigurationValues): Generator<string> {
  for (const [path, [least, greatest]] of Object.entries(ranges)) {
    const value = values[path];
    if (value === undefined || (Number(value) >= least && Number(value) <= greatest)) continue;
    yield greatest === Number.POSITIVE_INFINITY
      ? `${path} ${value} must be greater than or equal to ${least}`
      : `${path} ${value} must be between ${least} and ${greatest}, inclusive`;
  }
  const factor = Number(values.memoryThrottlingFactor);
  if (!(factor > 0 && factor <= 1)) {
    yield `memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`;
  }
  const period = durationOf(values.cpuCFSQuotaPeriod);
  if (period < 1e6 || period > 1e9) {
    yield `cpuCFSQuotaPeriod ${values.cpuCFSQuotaPeriod} must be between 1ms and 1sec, inclusive`;
  }
  if (durationOf(values.containerLogMonitorInterval) < 3e9) {
    yield 'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s';
  }
  for (const path of ['imageMinimumGCAge', 'imageMaximumGCAge']) {
    if (durationOf(values[path]) < 0) yield `${path} ${values[path]} must not be negative`;
  }
}

const choices: { readonly [path: string]: readonly string[] } = {
  cgroupDriver: ['cgroupfs', 'systemd'],
  'memorySwap.swapBehavior': ['', 'LimitedSwap', 'NoSwap'],
  hairpinMode: ['promiscuous-bridge', 'hairpin-veth', 'none'],
  topologyManagerScope: ['container', 'pod'],
  configMapAndSecretChangeDetectionStrategy: ['Get', 'Cache', 'Watch'],
  'logging.format': ['text', 'json'],
};

function* choiceFaults(values: ConfigurationValues): Generator<string> {
  for (const [path, allowed] of Object.entries(choices)) {
    const value = String(values[path] ?? '');
    if (values[path] === undefined || allowed.includes(value)) continue;
    yield `${path} "${value}" must be one of: ${allowed.map((each) => `"${each}"`).join(', ')}`;
  }
}

function* formFaults(values: ConfigurationValues): Generator<string> {
  for (const path of ['address', 'healthzBindAddress']) {
    if (!isAddress(String(values[path]))) yield `${path} "${values[path]}" must be an IP address`;
  }
  for (const [index, address] of (values.clusterDNS as readonly string[]).entries()) {
    if (!isAddress(address)) yield `clusterDNS[${index}] "${address}" must be an IP address`;
  }
  if (!isQuantity(String(values.containerLogMaxSize))) {
    yield `containerLogMaxSize "${values.containerLogMaxSize}" must be a quantity such as 10Mi`;
  }
  for (const path of ['kubeReserved', 'systemReserved']) {
    for (const [name, amount] of Object.entries(values[path] as object)) {
      if (!reservable.has(name)) yield `${path}.${name}: cannot reserve "${name}" resource`;
      else if (!isQuantity(amount) || amount.startsWith('-')) yield `${path}.${name} "${amount}" must be a quantity`;
    }
  }
  const directory = String(values.podLogsDir);
  if (!/^\/[ -~]*$/.test(directory) || /\/(?:\.{0,2})(?:\/|$)/.test(directory)) {
    yield `pod logs path "${directory}" must be an absolute, normalized path of ASCII characters`;
  }
  for (const [index, taint] of (values.registerWithTaints as readonly { [name: string]: unknown }[]).entries()) {
    const { key = '', value = '', effect = '', timeAdded } = taint;
    if (!/^[^=:,\s]+$/.test(String(key)) || /[=:,\s]/.test(String(value)) || !taintEffects.has(String(effect))) {
      yield `registerWithTaints[${index}]: invalid taint: ${key}=${value}:${effect}`;
    }
    if (timeAdded !== undefined) yield `registerWithTaints[${index}].timeAdded must not be set`;
  }
}

const reservable: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage', 'pid']);
const taintEffects: ReadonlySet<string> = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute']);
const enforcements: ReadonlySet<string> = new Set(['none', 'pods', 'system-reserved', 'kube-reserved']);

function* allocatableFaults(values: ConfigurationValues): Generator<string> {
  const names = values.enforceNodeAllocatable as readonly string[];
  for (const [index, name] of names.entries()) {
    if (!enforcements.has(name)) {
      yield `option "${name}" specified for enforceNodeAllocatable is not one of ${[...enforcements].join(', ')}`;
    }
    if (names.indexOf(name) < index) yield `duplicated enforcements "${name}" in enforceNodeAllocatable`;
    if (name === 'none' && names.length > 1) {
      yield 'enforceNodeAllocatable may not contain additional enforcements when "none" is specified';
    }
    if (name !== 'none' && values.cgroupsPerQOS === false) {
      yield `cgroupsPerQOS must be set to true when "${name}" contained in enforceNodeAllocatable`;
    }
    const cgroup = name === 'system-reserved' ? 'systemReservedCgroup' : 'kubeReservedCgroup';
    if (name.endsWith('-reserved') && values[cgroup] === '') {
      yield `${cgroup} must be specified when "${name}" included in enforceNodeAllocatable`;
    }
  }
}

function* evictionFaults(values: ConfigurationValues): Generator<string> {
  const periods = values.evictionSoftGracePeriod as { readonly [signal: string]: string };
  for (const path of ['evictionHard', 'evictionSoft']) {
    for (const [signal, amount] of Object.entries(values[path] as { readonly [signal: string]: string })) {
      const at = `${path}["${signal}"]`;
      if (!isSignal(signal)) yield `${at}: unsupported eviction signal`;
      const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(amount) ?? [];
      if (percent === undefined ? !isQuantity(amount) || amount.startsWith('-') : Number(percent) > 100) {
        yield `${at} "${amount}" must be a quantity or a percentage`;
      }
      if (path === 'evictionSoft' && !Object.hasOwn(periods, signal)) {
        yield `grace period must be specified for the soft eviction threshold ${signal}`;
      }
    }
  }
  for (const [signal, period] of Object.entries(periods)) {
    const at = `evictionSoftGracePeriod["${signal}"]`;
    if (!isSignal(signal)) yield `${at}: unsupported eviction signal`;
    if (!isDuration(period)) yield `${at} "${period}" must be a duration that is not negative`;
  }
}

function* combinationFaults(values: ConfigurationValues): Generator<string> {
  const { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high } = values;
  if (Number(low) >= Number(high)) {
    yield `imageGCLowThresholdPercent ${low} must be less than imageGCHighThresholdPercent ${high}`;
  }
  const longest = durationOf(values.imageMaximumGCAge);
  if (longest > 0 && longest <= durationOf(values.imageMinimumGCAge)) {
    yield `imageMaximumGCAge ${values.imageMaximumGCAge} must be greater than imageMinimumGCAge ${values.imageMinimumGCAge}`;
  }
  if (values.serializeImagePulls === true && Number(values.maxParallelImagePulls ?? 1) > 1) {
    yield 'maxParallelImagePulls cannot be larger than 1 unless serializeImagePulls is set to false';
  }
  if ((values.tlsCertFile === '') !== (values.tlsPrivateKeyFile === '')) {
    yield 'tlsCertFile and tlsPrivateKeyFile must be given together';
  }
}

function durationOf(value: unknown): number {
  return Number(parseDuration(String(value)));
}

/** Reports whether a parser accepts a text. */
function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    // The caller reports the text as a fault.
    return false;
  }
}

const isQuantity = (text: string) => accepts(parseQuantity, text);
const isDuration = (text: string) => accepts(parseDuration, text) && durationOf(text) >= 0;
