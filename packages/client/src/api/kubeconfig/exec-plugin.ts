import { spawn } from 'node:child_process';
import type { Clock } from '@kruise/values/clock';
import { bearerAuthorization, type Credential, type Credentials } from '../credentials.ts';
import type { Environment } from '../http/proxy.ts';

/** Exec credential plugin of a kubeconfig. */
export type ExecPlugin = {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
};

/** Cluster information that is passed to a plugin. */
export type PluginCluster = {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name: string; readonly extension: unknown }[];
  readonly authorities: string | undefined;
};

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const configExtension = 'client.authentication.k8s.io/exec';
/** A credential is renewed this long before it expires, or when a tenth of its lifetime is left, if that is less. */
const renewBeforeMs = 60_000;
/** Limit of the output of a plugin. */
const maxOutputBytes = 2 ** 20;

/** Returns credentials from an exec plugin, cached until they expire. */
export function pluginCredentials(
  plugin: ExecPlugin,
  cluster: PluginCluster,
  clock: Clock,
  environment: Environment,
): Credentials {
  check(plugin);
  let cached: { readonly credential: Credential; readonly renewAt: number } | undefined;
  let refreshing: Promise<Credential> | undefined;

  async function refresh(): Promise<Credential> {
    const { credential, expiresAt } = await runPlugin(plugin, cluster, environment);
    const remainingMs = expiresAt - clock.now();
    cached = { credential, renewAt: expiresAt - Math.min(renewBeforeMs, Math.max(0, remainingMs / 10)) };
    return credential;
  }

  return {
    current() {
      if (cached && clock.now() < cached.renewAt) return cached.credential;
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
    rejected(credential) {
      // Another rejected request may have renewed the credential already.
      if (cached?.credential === credential) cached = undefined;
      return true;
    },
  };
}

function check({ apiVersion, command, interactiveMode }: ExecPlugin): void {
  if (!command) throw new Error('the exec plugin has no command; set exec.command in the kubeconfig');
  if (!apiVersion || !versions.includes(apiVersion)) {
    throw new Error(
      `the exec plugin ${command} uses ${apiVersion ?? 'no apiVersion'}; supported are ${versions.join(' and ')}`,
    );
  }
  if (apiVersion === versions[0] && !interactiveMode) {
    throw new Error(`the exec plugin ${command} must set interactiveMode to use ${apiVersion}`);
  }
  if (interactiveMode && !['Never', 'IfAvailable', 'Always'].includes(interactiveMode)) {
    throw new Error(`the exec plugin ${command} has an unknown interactiveMode: ${interactiveMode}`);
  }
}

type PluginResult = { readonly credential: Credential; readonly expiresAt: number };

async function runPlugin(plugin: ExecPlugin, cluster: PluginCluster, environment: Environment): Promise<PluginResult> {
  const { command = '', args, env, interactiveMode = 'IfAvailable', apiVersion } = plugin;
  const hasTerminal = process.stdin.isTTY === true;
  if (interactiveMode === 'Always' && !hasTerminal) {
    throw new Error(`the exec plugin ${command} requires a terminal, but stdin is not a terminal`);
  }
  const interactive = hasTerminal && interactiveMode !== 'Never';
  const info = {
    kind: 'ExecCredential',
    apiVersion,
    spec: { ...(plugin.provideClusterInfo ? { cluster: clusterInfo(cluster) } : {}), interactive },
  };
  const child = spawn(command, [...(args ?? [])], {
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    env: {
      ...environment,
      ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    },
  });
  const hint = plugin.installHint ? `\n${plugin.installHint}` : '';
  const output = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutputBytes) chunks.push(chunk);
      else child.kill();
    });
    child.once('error', (error) =>
      reject(new Error(`the exec plugin ${command} cannot be run: ${error.message}${hint}`, { cause: error })),
    );
    child.once('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString());
      else reject(new Error(`the exec plugin ${command} failed with ${signal ?? `exit code ${code}`}`));
    });
  });
  return parseOutput(output, plugin);
}

function clusterInfo({ authorities, extensions, ...cluster }: PluginCluster): unknown {
  const config = extensions?.find(({ name }) => name === configExtension)?.extension;
  const forwardedFields = [
    'server',
    'tls-server-name',
    'insecure-skip-tls-verify',
    'proxy-url',
    'disable-compression',
  ] as const;
  return {
    ...Object.fromEntries(forwardedFields.flatMap((field) => (cluster[field] ? [[field, cluster[field]]] : []))),
    ...(authorities === undefined ? {} : { 'certificate-authority-data': Buffer.from(authorities).toString('base64') }),
    ...(config === undefined ? {} : { config }),
  };
}

function parseOutput(output: string, { command, apiVersion }: ExecPlugin): PluginResult {
  let response: { kind?: string; apiVersion?: string; status?: { readonly [field: string]: unknown } };
  try {
    response = JSON.parse(output);
  } catch (error) {
    throw new Error(`the output of the exec plugin ${command} is not valid JSON`, { cause: error });
  }
  if (response?.kind !== 'ExecCredential' || response.apiVersion !== apiVersion) {
    throw new Error(
      `the exec plugin ${command} is configured to use ${apiVersion}, but returned ${response?.apiVersion} ${response?.kind}`,
    );
  }
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = response.status ?? {};
  if (!token && !certificate && !key)
    throw new Error(`the exec plugin ${command} returned neither a token nor a certificate`);
  if ((typeof certificate === 'string') !== (typeof key === 'string')) {
    throw new Error(`the exec plugin ${command} returned a certificate without a key, or a key without a certificate`);
  }
  const expiresAt =
    typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY;
  if (Number.isNaN(expiresAt)) throw new Error(`the exec plugin ${command} returned an invalid expirationTimestamp`);
  return {
    credential: {
      ...(typeof token === 'string' && token !== '' ? { authorization: bearerAuthorization(token) } : {}),
      ...(typeof certificate === 'string' && typeof key === 'string' ? { certificate: { certificate, key } } : {}),
    },
    expiresAt,
  };
}
