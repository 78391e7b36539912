import { spawn } from 'node:child_process';
import type { Clock } from '@kruise/values/clock';
import { bearer, type Credential, type Credentials } from '../credentials.ts';
import type { Environment } from '../http/proxy.ts';

/** A program that knows how to log in, as a kubeconfig names it. */
export type ExecPlugin = {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
};

/** What a plugin may want to know of the server. */
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
/** A credential is renewed this long before it expires, or when a tenth of its life is left, if that is less. */
const renewBeforeMs = 60_000;
/** No credential is longer. */
const maxOutputBytes = 2 ** 20;

/** Asks a plugin for credentials, once for as long as they last. */
export function pluginCredentials(
  plugin: ExecPlugin,
  cluster: PluginCluster,
  clock: Clock,
  environment: Environment,
): Credentials {
  check(plugin);
  let known: { readonly credential: Credential; readonly renewAt: number } | undefined;
  let asking: Promise<Credential> | undefined;

  async function ask(): Promise<Credential> {
    const { credential, expiresAt } = await runPlugin(plugin, cluster, environment);
    const left = expiresAt - clock.now();
    known = { credential, renewAt: expiresAt - Math.min(renewBeforeMs, Math.max(0, left / 10)) };
    return credential;
  }

  return {
    current() {
      if (known && clock.now() < known.renewAt) return known.credential;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    refused(credential) {
      // Whoever else was refused meanwhile may have asked already.
      if (known?.credential === credential) known = undefined;
      return true;
    },
  };
}

function check({ apiVersion, command, interactiveMode }: ExecPlugin): void {
  if (!command) throw new Error('the exec plugin has no command');
  if (!apiVersion || !versions.includes(apiVersion)) {
    throw new Error(
      `the exec plugin ${command} speaks ${apiVersion ?? 'no apiVersion'}; ${versions.join(' and ')} are known`,
    );
  }
  if (apiVersion === versions[0] && !interactiveMode) {
    throw new Error(`the exec plugin ${command} must say its interactiveMode to use ${apiVersion}`);
  }
  if (interactiveMode && !['Never', 'IfAvailable', 'Always'].includes(interactiveMode)) {
    throw new Error(`the exec plugin ${command} has an unknown interactiveMode: ${interactiveMode}`);
  }
}

type Answer = { readonly credential: Credential; readonly expiresAt: number };

async function runPlugin(plugin: ExecPlugin, cluster: PluginCluster, environment: Environment): Promise<Answer> {
  const { command = '', args, env, interactiveMode = 'IfAvailable', apiVersion } = plugin;
  const hasTerminal = process.stdin.isTTY === true;
  if (interactiveMode === 'Always' && !hasTerminal) {
    throw new Error(`the exec plugin ${command} needs a terminal, and there is none`);
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
  return read(output, plugin);
}

function clusterInfo({ authorities, extensions, ...cluster }: PluginCluster): unknown {
  const config = extensions?.find(({ name }) => name === configExtension)?.extension;
  const passedOn = [
    'server',
    'tls-server-name',
    'insecure-skip-tls-verify',
    'proxy-url',
    'disable-compression',
  ] as const;
  return {
    ...Object.fromEntries(passedOn.flatMap((field) => (cluster[field] ? [[field, cluster[field]]] : []))),
    ...(authorities === undefined ? {} : { 'certificate-authority-data': Buffer.from(authorities).toString('base64') }),
    ...(config === undefined ? {} : { config }),
  };
}

function read(output: string, { command, apiVersion }: ExecPlugin): Answer {
  let answer: { kind?: string; apiVersion?: string; status?: { readonly [field: string]: unknown } };
  try {
    answer = JSON.parse(output);
  } catch (error) {
    throw new Error(`the exec plugin ${command} answered with what is no JSON`, { cause: error });
  }
  if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== apiVersion) {
    throw new Error(
      `the exec plugin ${command} is configured to use ${apiVersion}, but answered with ${answer?.apiVersion} ${answer?.kind}`,
    );
  }
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
  if (!token && !certificate && !key) throw new Error(`the exec plugin ${command} gave no token and no certificate`);
  if ((typeof certificate === 'string') !== (typeof key === 'string')) {
    throw new Error(`the exec plugin ${command} gave a certificate without a key, or a key without a certificate`);
  }
  const expiresAt =
    typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY;
  if (Number.isNaN(expiresAt)) throw new Error(`the exec plugin ${command} gave no valid time of expiry`);
  return {
    credential: {
      ...(typeof token === 'string' && token !== '' ? { authorization: bearer(token) } : {}),
      ...(typeof certificate === 'string' && typeof key === 'string' ? { certificate: { certificate, key } } : {}),
    },
    expiresAt,
  };
}
