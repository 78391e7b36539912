/** Registry credentials of a node: credential provider plugins and the Docker configuration. */
import { constants } from 'node:fs';
import { access, readFile, realpath, stat } from 'node:fs/promises';
import type { Secret } from '@kruise/api/core/secret';
import type { Log } from '@kruise/client/log';
import type { Clock } from '@kruise/values/clock';
import type { HostFiles } from '../../cri/runtime.ts';
import { type CredentialProviders, createCredentialProviders } from './credential-providers.ts';
import { type DockerConfigPlaces, findDockerConfig } from './docker-config.ts';
import { type CredentialProvider, ProviderConfigError, parseProviderConfig } from './provider-config.ts';
import { runProgram } from './run-program.ts';

/** Returns the registry credentials of the node for an image, as pull Secrets. */
export type NodeSecrets = (image: string) => Promise<readonly Secret[]>;

/** Sources of the registry credentials of a node. */
export type NodeSecretSources = {
  readonly providers?: CredentialProviders | undefined;
  readonly files: HostFiles;
  readonly dockerConfig: DockerConfigPlaces;
  readonly log: Log;
};

/** Returns the credentials of a node. With equal registry paths, those of plugins come first. */
export function createNodeSecrets({ providers, files, dockerConfig, log }: NodeSecretSources): NodeSecrets {
  const onError = (file: string, reason: string) => log.warn({ file, reason }, 'failed to read docker config file');
  return async (image) => [
    ...((await providers?.(image)) ?? []),
    ...(await findDockerConfig(files, dockerConfig, onError)),
  ];
}

/** Files of the plugins. */
export type ProviderFiles = { readonly configFile: string; readonly binDirectory: string };

/** Dependencies of the plugins. */
export type PluginContext = {
  readonly clock: Clock;
  readonly log: Log;
  /** Environment of the plugins; the configuration adds variables. */
  readonly environment: NodeJS.ProcessEnv;
};

const limits = { timeoutMs: 60_000, maxOutputBytes: 256 * 1024 };
const maxConfigBytes = 1024 * 1024;

/** Reads the configuration and checks the programs. Throws `ProviderConfigError` with all faults. */
export async function loadCredentialProviders(
  { configFile, binDirectory }: ProviderFiles,
  { clock, log, environment }: PluginContext,
  signal: AbortSignal,
): Promise<CredentialProviders> {
  const { size } = await stat(configFile);
  if (size > maxConfigBytes) throw new ProviderConfigError(configFile, [`the file exceeds ${maxConfigBytes} bytes`]);
  const providers = parseProviderConfig(await readFile(configFile, 'utf8'), configFile);
  const faults = await Promise.all(
    providers.map(({ name }) =>
      findProgram(binDirectory, name).then(
        () => [],
        (error: Error) => [error.message],
      ),
    ),
  );
  if (faults.flat().length > 0) throw new ProviderConfigError(configFile, faults.flat());
  const call = async ({ name, args, env }: CredentialProvider, input: string) => {
    // The directory may have changed since the start.
    const path = await findProgram(binDirectory, name);
    const added = Object.fromEntries(env.map(({ name: variable, value }) => [variable, value ?? '']));
    return runProgram(clock, { path, args, environment: { ...environment, ...added }, input }, limits, signal);
  };
  const onError = (provider: string, error: unknown) =>
    log.error({ provider, error }, 'credential provider plugin failed');
  return createCredentialProviders(providers, { clock, call, onError, signal });
}

/** Returns the program of a plugin, with links resolved. Throws if it is not an executable file in the directory. */
async function findProgram(binDirectory: string, name: string): Promise<string> {
  const file = `${binDirectory}/${name}`;
  try {
    const [directory, path] = await Promise.all([realpath(binDirectory), realpath(file)]);
    if (!path.startsWith(directory === '/' ? '/' : `${directory}/`))
      throw new Error('it is a link out of the directory');
    if (!(await stat(path)).isFile()) throw new Error('it is not a file');
    await access(path, constants.X_OK);
    return path;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = { ENOENT: 'it does not exist', EACCES: 'it is not executable' }[code ?? ''] ?? message;
    throw new Error(`plugin binary executable ${file} cannot be used: ${reason}`, { cause: error });
  }
}
