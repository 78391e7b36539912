import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { parseYaml } from '@kruise/schema/yaml-text';
import type { Clock } from '@kruise/values/clock';
import {
  basicAuthorization,
  bearerAuthorization,
  type Credentials,
  type Impersonation,
  staticCredentials,
} from './credentials.ts';
import { type Environment, parseProxy, proxyFromEnvironment } from './http/proxy.ts';
import type { ServerConfig } from './http-transport.ts';
import { type ExecPlugin, pluginCredentials } from './kubeconfig/exec-plugin.ts';
import { tokenFile } from './kubeconfig/token-file.ts';

/** Cluster entry of a kubeconfig. */
export type KubeconfigCluster = {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name: string; readonly extension: unknown }[];
};

/** User entry of a kubeconfig. */
export type KubeconfigUser = {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: { readonly [key: string]: readonly string[] };
  readonly exec?: ExecPlugin;
  readonly 'auth-provider'?: { readonly name: string };
};

/** Context entry of a kubeconfig: cluster, user and namespace. */
export type KubeconfigContext = { readonly cluster?: string; readonly user?: string; readonly namespace?: string };

/** A kubeconfig, possibly merged from several files. */
export type Kubeconfig = {
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly currentContext?: string;
};

/** A kubeconfig is invalid. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** Locations of kubeconfig files. */
export type KubeconfigLocation = {
  /** Explicit path (`--kubeconfig`); disables `KUBECONFIG` and the default file. */
  readonly path?: string;
  readonly environment?: Environment;
  readonly homeDirectory?: string;
};

/** Loads the kubeconfig as kubectl does: an explicit file, the merged files of `KUBECONFIG`, or `~/.kube/config`. */
export function loadKubeconfig(location: KubeconfigLocation = {}): Kubeconfig {
  if (location.path !== undefined) return readKubeconfigFile(location.path);
  return mergeKubeconfigs(kubeconfigFiles(location).filter(existsSync).map(readKubeconfigFile));
}

/** Returns the files that `loadKubeconfig` reads, including missing ones. */
export function kubeconfigFiles(location: KubeconfigLocation = {}): readonly string[] {
  if (location.path !== undefined) return [location.path];
  const { environment = process.env, homeDirectory = homedir() } = location;
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? [...new Set(listed)] : [join(homeDirectory, '.kube', 'config')];
}

/** Reads a kubeconfig file; relative paths in it are resolved against its directory. */
export function readKubeconfigFile(path: string): Kubeconfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(`failed to read ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return parseKubeconfig(text, dirname(resolve(path)));
  } catch (error) {
    throw new KubeconfigError(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Parses a kubeconfig; relative paths in it are resolved against `directory`. */
export function parseKubeconfig(text: string, directory: string): Kubeconfig {
  const value = text.trim() === '' ? {} : parseYaml(text);
  if (!isRecord(value)) throw new KubeconfigError('not a kubeconfig');
  const resolvePaths = <T extends object>(entry: T, fields: readonly (keyof T & string)[]): T => {
    const paths = fields.flatMap((field) => {
      const path = entry[field];
      return typeof path === 'string' && path !== '' && !isAbsolute(path) ? [[field, join(directory, path)]] : [];
    });
    return paths.length === 0 ? entry : { ...entry, ...Object.fromEntries(paths) };
  };
  const current = value['current-context'];
  return {
    clusters: entriesOf<KubeconfigCluster>(value, 'clusters', 'cluster', (cluster) =>
      resolvePaths(cluster, ['certificate-authority']),
    ),
    users: entriesOf<KubeconfigUser>(value, 'users', 'user', (user) => {
      const { exec } = user;
      // A command without a slash is looked up in PATH; with a slash it is a file.
      const plugin = exec && /[\\/]/.test(exec.command ?? '') ? { exec: resolvePaths(exec, ['command']) } : {};
      return { ...resolvePaths(user, ['client-certificate', 'client-key', 'tokenFile']), ...plugin };
    }),
    contexts: entriesOf<KubeconfigContext>(value, 'contexts', 'context', (context) => context),
    ...(typeof current === 'string' && current !== '' ? { currentContext: current } : {}),
  };
}

/** Merges kubeconfigs. The first entry of each name and the first current context win. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const first = <T>(pick: (config: Kubeconfig) => ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map(configs.toReversed().flatMap((config) => [...pick(config)]));
  const current = configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext;
  return {
    clusters: first(({ clusters }) => clusters),
    users: first(({ users }) => users),
    contexts: first(({ contexts }) => contexts),
    ...(current === undefined ? {} : { currentContext: current }),
  };
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entriesOf<T extends object>(
  config: { readonly [key: string]: unknown },
  list: string,
  field: string,
  read: (entry: T) => T,
): ReadonlyMap<string, T> {
  const entries = config[list] ?? [];
  if (!Array.isArray(entries)) throw new KubeconfigError(`${list} is not a list`);
  const found = new Map<string, T>();
  for (const entry of entries) {
    if (!isRecord(entry) || typeof entry.name !== 'string') throw new KubeconfigError(`${list}: an entry has no name`);
    // Field types are not validated, as in kubectl.
    if (!found.has(entry.name)) found.set(entry.name, read((entry[field] ?? {}) as T));
  }
  return found;
}

/** Overrides of the current context. */
export type KubeconfigOverrides = {
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly clock: Clock;
  readonly environment?: Environment;
};

/** Server configuration and default namespace of a context. */
export type ResolvedServer = ServerConfig & { readonly namespace: string };

/**
 * Resolves the server and credentials of a context.
 *
 * ```ts
 * const { namespace, ...server } = resolveServer(loadKubeconfig(), { context: 'staging', clock: systemClock });
 * ```
 */
export function resolveServer(config: Kubeconfig, overrides: KubeconfigOverrides): ResolvedServer {
  const { environment = process.env } = overrides;
  const contextName = overrides.context ?? config.currentContext;
  const context = contextName === undefined ? {} : config.contexts.get(contextName);
  if (!context) throw new KubeconfigError(`context ${JSON.stringify(contextName)} does not exist`);
  const clusterName = overrides.cluster ?? context.cluster;
  const userName = overrides.user ?? context.user;
  if (clusterName === undefined)
    throw new KubeconfigError('no current context is set; select one with --context or kubectl config use-context');
  const cluster = config.clusters.get(clusterName);
  if (!cluster) throw new KubeconfigError(`cluster ${JSON.stringify(clusterName)} does not exist`);
  const user = userName === undefined || userName === '' ? {} : config.users.get(userName);
  if (!user) throw new KubeconfigError(`user ${JSON.stringify(userName)} does not exist`);
  if (!cluster.server) throw new KubeconfigError(`cluster ${JSON.stringify(clusterName)} has no server`);

  const authorities = readData(cluster, 'certificate-authority');
  const isInsecure = cluster['insecure-skip-tls-verify'] === true;
  if (isInsecure && authorities !== undefined) {
    throw new KubeconfigError('specifying a root certificates file with the insecure flag is not allowed');
  }
  const url = URL.parse(cluster.server.includes('://') ? cluster.server : `http://${cluster.server}`);
  if (!url)
    throw new KubeconfigError(`${JSON.stringify(cluster.server)} is not a valid server address; use https://host:port`);
  const proxy = cluster['proxy-url'] ? parseProxy(cluster['proxy-url']) : proxyFromEnvironment(url, environment);
  const impersonate = impersonationOf(user);
  return {
    server: cluster.server,
    ...(authorities === undefined ? {} : { authorities }),
    ...(cluster['tls-server-name'] ? { serverName: cluster['tls-server-name'] } : {}),
    ...(isInsecure ? { insecureSkipVerify: true } : {}),
    ...(cluster['disable-compression'] ? { compress: false } : {}),
    ...(proxy ? { proxy } : {}),
    credentials: credentialsOf(userName ?? '', user, cluster, authorities, overrides.clock, environment),
    ...(impersonate ? { impersonate } : {}),
    namespace: context.namespace || 'default',
  };
}

/** Returns the value of a `-data` field, or the contents of the file that the entry names. */
function readData<K extends string>(entry: { readonly [F in K | `${K}-data`]?: string }, field: K): string | undefined {
  const data = entry[`${field}-data`];
  if (data) return Buffer.from(data, 'base64').toString();
  const path = entry[field];
  return path ? readDataFile(path) : undefined;
}

function readDataFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(`failed to read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function impersonationOf(user: KubeconfigUser): Impersonation | undefined {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  if (!as) {
    if (uid || groups?.length || extra) throw new KubeconfigError('impersonation without a user: as is missing');
    return undefined;
  }
  return { user: as, ...(uid ? { uid } : {}), ...(groups ? { groups } : {}), ...(extra ? { extra } : {}) };
}

function credentialsOf(
  name: string,
  user: KubeconfigUser,
  cluster: KubeconfigCluster,
  authorities: string | undefined,
  clock: Clock,
  environment: Environment,
): Credentials {
  if (user['auth-provider']) {
    throw new KubeconfigError(
      `the auth-provider ${user['auth-provider'].name} of user ${JSON.stringify(name)} is not supported; use an exec plugin`,
    );
  }
  const certificate = readData(user, 'client-certificate');
  const key = readData(user, 'client-key');
  if ((certificate === undefined) !== (key === undefined)) {
    throw new KubeconfigError(
      `user ${JSON.stringify(name)} has a certificate without a key, or a key without a certificate`,
    );
  }
  const clientCertificate = certificate !== undefined && key !== undefined ? { certificate: { certificate, key } } : {};
  const methods = [
    ...(user.token || user.tokenFile ? ['token'] : []),
    ...(user.username || user.password ? ['basicAuth'] : []),
    ...(user.exec ? ['exec'] : []),
  ];
  if (methods.length > 1) {
    throw new KubeconfigError(
      `more than one authentication method found for ${name}; found ${JSON.stringify(methods)}, only one is allowed`,
    );
  }
  if (user.exec) return pluginCredentials(user.exec, { ...cluster, authorities }, clock, environment);
  if (user.tokenFile) return tokenFile(user.tokenFile, clock, { ...clientCertificate, fallback: user.token });
  if (user.token) return staticCredentials({ ...clientCertificate, authorization: bearerAuthorization(user.token) });
  if (user.username || user.password) {
    return staticCredentials({
      ...clientCertificate,
      authorization: basicAuthorization(user.username ?? '', user.password ?? ''),
    });
  }
  return staticCredentials(clientCertificate);
}
