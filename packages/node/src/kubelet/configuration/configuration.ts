/**
 * Reads `KubeletConfiguration`: strict decoding, merging of drop-ins, defaults and validation. A configuration is a map
 * from the paths of its fields to their values, so that each step is a loop over the table of fields.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@kruise/machinery/json-value';
import { formatDuration, parseDuration } from '@kruise/values/duration';
import type { NodeSettings } from '../containers/sandbox-config.ts';
import { configurationFields, defaultEvictionHard, type Field, type FieldEffect } from './fields.ts';

/** Values by the path of the field, such as `authentication.x509.clientCAFile`. */
export type ConfigurationValues = { readonly [path: string]: unknown };

const apiVersion = 'kubelet.config.k8s.io/v1beta1';
const kind = 'KubeletConfiguration';

/** The configuration has faults; the message names all of them. */
export class KubeletConfigurationError extends Error {
  override readonly name = 'KubeletConfigurationError';

  constructor(source: string, faults: readonly string[]) {
    super(`${source}: ${faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`}`);
  }
}

/** Merges a drop-in into a document: maps are merged, other values replaced, and null removes a value. */
export function mergeDocuments(base: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(base) ? Object.entries(base) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergeDocuments(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/**
 * Decodes a document strictly and returns the values that are set. `duplicates` are the faults of its text. Throws
 * `KubeletConfigurationError`.
 */
export function decodeConfiguration(
  document: unknown,
  source: string,
  duplicates: readonly string[] = [],
): ConfigurationValues {
  const root = isObject(document) ? document : {};
  if (root.apiVersion !== apiVersion || root.kind !== kind) {
    const given = `no kind "${String(root.kind)}" is registered for version "${String(root.apiVersion)}"`;
    throw new KubeletConfigurationError(source, [`${given}; it is ${kind} of ${apiVersion}`]);
  }
  const faults = [...duplicates];
  const values: { [path: string]: unknown } = {};
  const visit = (given: object, prefix: string) => {
    for (const [name, value] of Object.entries(given)) {
      if (prefix === '' && (name === 'apiVersion' || name === 'kind')) continue;
      const path = prefix + name;
      const field = Object.hasOwn(configurationFields, path) ? configurationFields[path] : undefined;
      if (field) {
        if (value === null) continue;
        const fault = typeFault(field, path, value);
        if (fault !== undefined) faults.push(`${path}: ${fault}`);
        else values[path] = normalized(field, value);
      } else if (sections.has(path)) {
        if (isObject(value)) visit(value, `${path}.`);
        else if (value !== null) faults.push(`${path}: must be an object`);
      } else {
        faults.push(`unknown field "${path}"`);
      }
    }
  };
  visit(root, '');
  if (faults.length > 0) throw new KubeletConfigurationError(source, faults);
  return values;
}

/** Paths of objects that have fields. */
const sections: ReadonlySet<string> = new Set(
  Object.keys(configurationFields).flatMap((path) => {
    const names = path.split('.');
    return names.slice(1).map((_, index) => names.slice(0, index + 1).join('.'));
  }),
);

const listItems: { readonly [path: string]: { readonly [name: string]: (value: unknown) => boolean } } = {
  registerWithTaints: { key: isText, value: isText, effect: isText, timeAdded: isText },
  'logging.vmodule': { filePattern: isText, verbosity: Number.isInteger },
  shutdownGracePeriodByPodPriority: { priority: Number.isInteger, shutdownGracePeriodSeconds: Number.isInteger },
  reservedMemory: { numaNode: Number.isInteger, limits: isObject },
};

/** Returns what is wrong with the type of a value. */
function typeFault({ type }: Field, path: string, value: unknown): string | undefined {
  const mapOf = (isValue: (each: unknown) => boolean) => isObject(value) && Object.values(value).every(isValue);
  switch (type) {
    case 'string':
    case 'path':
      return isText(value) ? undefined : 'must be a string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : 'must be a whole number';
    case 'number':
      return typeof value === 'number' ? undefined : 'must be a number';
    case 'duration':
      // A flush frequency may be a number of nanoseconds.
      if (path === 'logging.flushFrequency' && Number.isSafeInteger(value)) return undefined;
      return durationFault(value);
    case 'strings':
      return Array.isArray(value) && value.every(isText) ? undefined : 'must be a list of strings';
    case 'string map':
      return mapOf(isText) ? undefined : 'must be a map of strings';
    case 'boolean map':
      return mapOf((each) => typeof each === 'boolean') ? undefined : 'must be a map of true and false';
    case 'list map':
      return mapOf((each) => Array.isArray(each) && each.every(isText)) ? undefined : 'must be a map of lists';
    case 'objects':
      return listFault(listItems[path] ?? {}, value);
  }
}

function listFault(members: { readonly [name: string]: (value: unknown) => boolean }, value: unknown) {
  if (!Array.isArray(value) || !value.every(isObject)) return 'must be a list of objects';
  for (const [index, item] of value.entries()) {
    for (const [name, member] of Object.entries(item)) {
      if (!Object.hasOwn(members, name)) return `unknown field "[${index}].${name}"`;
      if (!members[name]!(member)) return `[${index}].${name} has the wrong type`;
    }
  }
  return undefined;
}

function durationFault(value: unknown): string | undefined {
  if (!isText(value)) return 'must be a duration such as 1m30s';
  try {
    parseDuration(value);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Durations have one form, so that they can be compared. */
function normalized({ type }: Field, value: unknown): unknown {
  if (type !== 'duration') return value;
  return formatDuration(typeof value === 'number' ? BigInt(value) : parseDuration(String(value)));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Returns the values with the defaults of Kubernetes v1.33. */
export function withConfigurationDefaults(given: ConfigurationValues): ConfigurationValues {
  const values: { [path: string]: unknown } = {};
  for (const [path, field] of Object.entries(configurationFields)) {
    const value = given[path];
    const isSet = value !== undefined && !(field.isZeroUnset && isZero(field, value));
    if (isSet) values[path] = value;
    else if (field.default !== undefined) values[path] = field.default;
  }
  const has = (path: string) => given[path] !== undefined && given[path] !== '0s';
  if (!has('nodeStatusReportFrequency') && has('nodeStatusUpdateFrequency')) {
    values.nodeStatusReportFrequency = values.nodeStatusUpdateFrequency;
  }
  if (given.serializeImagePulls === undefined) {
    values.serializeImagePulls = !(Number(given.maxParallelImagePulls ?? 1) >= 2);
  }
  if (Number(values.podPidsLimit) < 0) values.podPidsLimit = -1;
  if (values.mergeDefaultEvictionSettings === true) {
    values.evictionHard = { ...defaultEvictionHard, ...(values.evictionHard as object) };
  }
  return values;
}

function isZero({ type }: Field, value: unknown): boolean {
  if (type === 'duration') return value === '0s';
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false;
}

/** Returns the fields with a value other than the default that have the given effect. */
export function fieldsWithEffect(values: ConfigurationValues, effect: FieldEffect): readonly string[] {
  return Object.entries(configurationFields)
    .filter(([path, field]) => {
      const value = values[path];
      const harmless = [undefined, field.default, ...field.equivalents];
      return field.effect === effect && !harmless.some((each) => isDeepStrictEqual(each, value));
    })
    .map(([path]) => path);
}

/** Returns the configuration as an object, as `/configz` of the kubelet API serves it. */
export function configurationObject(values: ConfigurationValues): object {
  const root: { [name: string]: unknown } = {};
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.');
    const last = names.pop()!;
    let target = root;
    for (const name of names) target = (target[name] ??= {}) as typeof root;
    target[last] = value;
  }
  return root;
}

/** Returns the configuration of a kubelet that was started without a file or flags. */
export function configurationOf({
  settings,
  maxPods,
  port,
}: {
  readonly settings: Pick<NodeSettings, 'clusterDns' | 'clusterDomain' | 'podLogsDirectory' | 'cgroupDriver'>;
  readonly maxPods: number;
  readonly port: number;
}): object {
  return configurationObject(
    withConfigurationDefaults({
      maxPods,
      port,
      clusterDNS: settings.clusterDns,
      clusterDomain: settings.clusterDomain,
      podLogsDir: settings.podLogsDirectory,
      cgroupDriver: settings.cgroupDriver.toLowerCase(),
    }),
  );
}
