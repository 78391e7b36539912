/** Files of the host that the Pod network reads and writes: CNI configuration, plugins and kernel parameters. */
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConfigurationFile, configurationFile } from './configuration.ts';

export type HostFiles = {
  /** Returns the files of the CNI configuration directory; none if it does not exist. */
  readConfigurations(): Promise<readonly ConfigurationFile[]>;
  /** Writes our configuration file, atomically. */
  writeConfiguration(content: string): Promise<void>;
  removeConfiguration(): Promise<void>;
  /** Returns the names of the installed CNI plugins. */
  plugins(): Promise<ReadonlySet<string>>;
  hasIptables(): Promise<boolean>;
  /** Makes the kernel forward packets of these families. */
  enableForwarding(families: readonly (4 | 6)[]): Promise<void>;
};

export type HostPaths = {
  readonly configurations: string;
  readonly plugins: readonly string[];
  readonly kernelParameters: string;
};

export const defaultHostPaths: HostPaths = {
  configurations: '/etc/cni/net.d',
  plugins: ['/opt/cni/bin', '/usr/lib/cni'],
  kernelParameters: '/proc/sys/net',
};

/** Larger files are no CNI configuration. */
const maxConfigurationBytes = 1024 * 1024;
const iptablesPaths = ['/usr/sbin/iptables', '/sbin/iptables', '/usr/bin/iptables', '/usr/local/sbin/iptables'];

export function systemFiles({ configurations, plugins, kernelParameters }: HostPaths): HostFiles {
  const own = join(configurations, configurationFile);
  return {
    async readConfigurations() {
      const names = (await list(configurations)).filter((name) => /\.(conflist|conf|json)$/.test(name));
      const files = await Promise.all(
        names.map(async (name) => ({ name, content: await readFile(join(configurations, name), 'utf8') })),
      );
      return files.filter(({ content }) => content.length <= maxConfigurationBytes);
    },
    async writeConfiguration(content) {
      await mkdir(configurations, { recursive: true, mode: 0o755 });
      // The suffix is none that runtimes read.
      const draft = `${own}.tmp`;
      await rm(draft, { force: true });
      await writeFile(draft, content, { mode: 0o644, flag: 'wx' });
      await rename(draft, own);
    },
    removeConfiguration: () => rm(own, { force: true }),
    plugins: async () => new Set((await Promise.all(plugins.map(list))).flat()),
    hasIptables: async () => (await Promise.all(iptablesPaths.map(exists))).includes(true),
    async enableForwarding(families) {
      const parameter = (path: string) => join(kernelParameters, path);
      if (families.includes(4)) await setParameter(parameter('ipv4/ip_forward'), '1');
      if (!families.includes(6)) return;
      // A forwarding host ignores router advertisements; 2 keeps the default route of hosts that depend on them.
      for (const name of await list(parameter('ipv6/conf'))) {
        const path = parameter(`ipv6/conf/${name}/accept_ra`);
        if ((await readFile(path, 'utf8')).trim() === '1') await writeFile(path, '2');
      }
      await setParameter(parameter('ipv6/conf/all/forwarding'), '1');
    },
  };
}

async function setParameter(path: string, value: string): Promise<void> {
  if ((await readFile(path, 'utf8')).trim() !== value) await writeFile(path, value);
}

async function list(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
