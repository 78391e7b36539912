/** Configuration of credential provider plugins: `CredentialProviderConfig` of `kubelet.config.k8s.io`. */
import { type ParsedYaml, parseYamlText } from '@kruise/schema/yaml-text';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';

/** A plugin, and the images that it has credentials for. */
export type CredentialProvider = {
  /** File name of the program in the directory of the plugins. */
  readonly name: string;
  readonly matchImages: readonly string[];
  /** Cache duration of responses that name none. */
  readonly defaultCacheMs: number;
  /** Version of requests and responses. */
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
};

/** All faults of a configuration. */
export class ProviderConfigError extends Error {
  override readonly name = 'ProviderConfigError';
  readonly faults: readonly string[];

  constructor(file: string, faults: readonly string[]) {
    super(`invalid credential provider config ${file}: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

const versions = ['v1', 'v1beta1', 'v1alpha1'];
const configVersions = versions.map((version) => `kubelet.config.k8s.io/${version}`);
const pluginVersions = versions.map((version) => `credentialprovider.kubelet.k8s.io/${version}`);
const fields = new Set([
  ...['name', 'matchImages', 'defaultCacheDuration', 'apiVersion', 'args', 'env'],
  'tokenAttributes',
]);

type Fields = { readonly [name: string]: unknown };

/** Parses the configuration. Throws `ProviderConfigError` with all faults; values of `env` are not in it. */
export function parseProviderConfig(text: string, file: string): readonly CredentialProvider[] {
  let config: ParsedYaml;
  try {
    config = parseYamlText(text);
  } catch {
    // The error of the parser quotes the text, which may contain secrets.
    throw new ProviderConfigError(file, ['the file is neither valid YAML nor valid JSON']);
  }
  const faults = [...config.duplicates, ...faultsOf(config.value)];
  if (faults.length > 0) throw new ProviderConfigError(file, faults);
  return itemsOf(fieldsOf(config.value)?.['providers']).map((each) => {
    // `faultsOf` has checked the types.
    const provider = each as {
      readonly name: string;
      readonly matchImages: readonly string[];
      readonly defaultCacheDuration: string;
      readonly apiVersion: string;
      readonly args?: CredentialProvider['args'] | null;
      readonly env?: CredentialProvider['env'] | null;
    };
    const { name, matchImages, apiVersion } = provider;
    return {
      name,
      matchImages,
      apiVersion,
      defaultCacheMs: toMilliseconds(parseDuration(provider.defaultCacheDuration)),
      args: provider.args ?? [],
      env: provider.env ?? [],
    };
  });
}

function* faultsOf(config: unknown): Generator<string> {
  const root = fieldsOf(config);
  if (!root) {
    yield 'the file must contain an object';
    return;
  }
  const { apiVersion, kind, providers } = root;
  if (kind !== 'CredentialProviderConfig') yield `kind: must be CredentialProviderConfig, not ${shown(kind)}`;
  yield* unsupported('apiVersion', apiVersion, configVersions);
  for (const name of Object.keys(root)) {
    if (!['apiVersion', 'kind', 'providers'].includes(name)) yield `${shown(name)}: unknown field`;
  }
  if (providers != null && !Array.isArray(providers)) {
    yield 'providers: must be a list';
    return;
  }
  const all = itemsOf(providers);
  if (all.length === 0) yield 'providers: at least 1 item in plugins is required';
  const names = new Set<unknown>();
  for (const [index, item] of all.entries()) {
    const path = `providers[${index}]`;
    const provider = fieldsOf(item);
    if (!provider) {
      yield `${path}: must be an object`;
      continue;
    }
    yield* providerFaults(path, provider);
    const { name } = provider;
    if (names.has(name)) yield `${path}.name: duplicate value ${shown(name)}`;
    names.add(name);
  }
}

function* providerFaults(path: string, provider: Fields): Generator<string> {
  const { name, matchImages, defaultCacheDuration, apiVersion, args, env, tokenAttributes } = provider;
  yield* nameFaults(`${path}.name`, name);
  yield* unsupported(`${path}.apiVersion`, apiVersion, pluginVersions);
  const patterns = itemsOf(matchImages);
  if (patterns.length === 0) yield `${path}.matchImages: at least 1 item in matchImages is required`;
  for (const [index, pattern] of patterns.entries()) {
    if (!isImagePattern(pattern)) {
      yield `${path}.matchImages[${index}]: match image is invalid: ${shown(pattern)} must be a registry with an optional port and path, without a scheme`;
    }
  }
  yield* durationFaults(`${path}.defaultCacheDuration`, defaultCacheDuration);
  if (args != null && !(Array.isArray(args) && args.every(isArgument))) yield `${path}.args: must be a list of strings`;
  if (env != null && !(Array.isArray(env) && env.every(isVariable))) {
    yield `${path}.env: must be a list of objects with a name and a value`;
  }
  if (tokenAttributes != null) {
    yield `${path}.tokenAttributes: tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders feature gate is disabled`;
  }
  for (const each of Object.keys(provider)) if (!fields.has(each)) yield `${path}.${each}: unknown field`;
}

function* nameFaults(path: string, name: unknown): Generator<string> {
  if (typeof name !== 'string' || name === '') {
    yield `${path}: required: the name of a program in the directory of the plugins`;
    return;
  }
  if (/[/\\\0]/.test(name)) yield `${path}: provider name ${shown(name)} cannot contain path separators`;
  if (name.includes(' ')) yield `${path}: provider name ${shown(name)} cannot contain spaces`;
  if (name === '.' || name === '..') yield `${path}: provider name cannot be '${name}'`;
}

function* unsupported(path: string, value: unknown, supported: readonly string[]): Generator<string> {
  if (typeof value === 'string' && supported.includes(value)) return;
  yield `${path}: ${value == null || value === '' ? 'required' : `unsupported value ${shown(value)}`}: supported values are ${supported.join(', ')}`;
}

function* durationFaults(path: string, value: unknown): Generator<string> {
  if (value == null) {
    yield `${path}: required`;
    return;
  }
  const duration = durationOf(value);
  if (duration === undefined) yield `${path}: ${shown(value)} is not a duration such as 12h or 0s`;
  else if (duration < 0) yield `${path}: defaultCacheDuration must be greater than or equal to 0`;
}

/** Returns milliseconds; undefined if the value is not a duration. */
export function durationOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return toMilliseconds(parseDuration(value));
  } catch {
    return undefined;
  }
}

function isImagePattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string' || /[\s\0]|:\/\//.test(pattern)) return false;
  const [host = ''] = pattern.split('/');
  const [, name = '', port] = /^([^:]*|\[[0-9a-fA-F:]+\])(?::([0-9]+))?$/.exec(host) ?? [];
  return name !== '' && (port === undefined || Number(port) <= 65_535);
}

function isArgument(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0');
}

function isVariable(value: unknown): boolean {
  const { name, value: content } = fieldsOf(value) ?? {};
  return isArgument(name) && name !== '' && !String(name).includes('=') && isArgument(content ?? '');
}

/** Returns the fields of an object; undefined for any other value. */
export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 200);
}
