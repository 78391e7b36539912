/** Calls the plugins of a CNI configuration as a container runtime does. */
import { existsSync } from 'node:fs';
import type { CommandRunner } from '../../host/run-command.ts';
import type { CniConfiguration } from '../configuration.ts';

const pluginDirectories = ['/opt/cni/bin', '/usr/lib/cni'];

/** Returns the path of a plugin; undefined if it is not installed. */
export function pluginPath(name: string): string | undefined {
  return pluginDirectories.map((directory) => `${directory}/${name}`).find(existsSync);
}

export type CniSandbox = { readonly id: string; readonly networkNamespace: string };
export type CniResult = { readonly ips?: readonly { readonly address: string }[] };

/** Connects a sandbox; returns the addresses of the Pod. */
export async function addSandbox(
  run: CommandRunner,
  configuration: CniConfiguration,
  sandbox: CniSandbox,
): Promise<readonly string[]> {
  let result: CniResult = {};
  for (const plugin of configuration.plugins) {
    const { name, cniVersion } = configuration;
    const prevResult = plugin === configuration.plugins[0] ? {} : { prevResult: result };
    const input = { ...plugin, name, cniVersion, ...prevResult };
    result = JSON.parse(await invoke(run, 'ADD', plugin.type, sandbox, input)) as CniResult;
  }
  return (result.ips ?? []).map(({ address }) => address.split('/')[0] ?? '');
}

/** Disconnects a sandbox. */
export async function deleteSandbox(
  run: CommandRunner,
  { plugins, name, cniVersion }: CniConfiguration,
  sandbox: CniSandbox,
): Promise<void> {
  for (const plugin of plugins.toReversed()) {
    await invoke(run, 'DEL', plugin.type, sandbox, { ...plugin, name, cniVersion });
  }
}

function invoke(
  run: CommandRunner,
  command: string,
  plugin: string,
  { id, networkNamespace }: CniSandbox,
  input: object,
): Promise<string> {
  const environment = [
    `CNI_COMMAND=${command}`,
    `CNI_CONTAINERID=${id}`,
    `CNI_NETNS=/run/netns/${networkNamespace}`,
    'CNI_IFNAME=eth0',
    `CNI_PATH=${pluginDirectories.join(':')}`,
    'CNI_ARGS=IgnoreUnknown=1',
  ];
  return run('env', [...environment, pluginPath(plugin) ?? plugin], { input: JSON.stringify(input) });
}
