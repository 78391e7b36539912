/** Programs that a machine needs to be a node, and how to install them. */

/** A program that a node needs. */
export type Requirement = {
  readonly name: string;
  readonly why: string;
  /** Package by package manager. */
  readonly packages: { readonly apt: string; readonly dnf: string; readonly apk: string; readonly pacman: string };
};

const same = (name: string) => ({ apt: name, dnf: name, apk: name, pacman: name });

export const containerdRequirement: Requirement = {
  name: 'containerd',
  why: 'the container runtime',
  packages: same('containerd'),
};

export const runtimeRequirements: readonly Requirement[] = [
  containerdRequirement,
  { name: 'runc', why: 'starts containers', packages: same('runc') },
];

export const mountRequirement: Requirement = { name: 'mount', why: 'mounts volumes', packages: same('util-linux') };

export const pluginRequirement: Requirement = {
  name: 'CNI plugins (host-local, loopback, portmap, ptp)',
  why: 'the Pod network',
  packages: {
    apt: 'containernetworking-plugins',
    dnf: 'containernetworking-plugins',
    apk: 'cni-plugins',
    pacman: 'cni-plugins',
  },
};

const iproute: Requirement['packages'] = { apt: 'iproute2', dnf: 'iproute', apk: 'iproute2', pacman: 'iproute2' };

/** Programs by which the network of a node is set up. */
export const networkRequirements: readonly Requirement[] = [
  { name: 'ip', why: 'routes to other nodes', packages: iproute },
  { name: 'bridge', why: 'routes to other nodes', packages: iproute },
  { name: 'nft', why: 'Services and network policies', packages: same('nftables') },
  { name: 'iptables', why: 'host ports', packages: same('iptables') },
  {
    name: 'conntrack',
    why: 'UDP connections to Services',
    packages: { apt: 'conntrack', dnf: 'conntrack-tools', apk: 'conntrack-tools', pacman: 'conntrack-tools' },
  },
];

/** Directories in which distributions install CNI plugins. */
export const cniDirectories = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'] as const;

const cniPlugins = ['host-local', 'loopback', 'portmap', 'ptp'];

/** Returns the directory with the CNI plugins that a node uses. */
export function findCniDirectory(exists: (path: string) => boolean): string | undefined {
  return cniDirectories.find((directory) => cniPlugins.every((plugin) => exists(`${directory}/${plugin}`)));
}

const commands = {
  apt: 'apt-get install -y',
  dnf: 'dnf install -y',
  apk: 'apk add',
  pacman: 'pacman -S',
} as const;

/** Returns the package manager of a system by its `/etc/os-release`. */
export function packageManagerOf(osRelease: string): keyof typeof commands | undefined {
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap(([, value = '']) => value.split(' '));
  if (ids.some((id) => id === 'debian' || id === 'ubuntu')) return 'apt';
  if (ids.some((id) => id === 'fedora' || id === 'rhel' || id === 'centos')) return 'dnf';
  if (ids.includes('alpine')) return 'apk';
  return ids.includes('arch') ? 'pacman' : undefined;
}

/** Returns the message about missing programs, with the command that installs them. */
export function missingMessage(missing: readonly Requirement[], osRelease: string): string {
  const lines = missing.map(({ name, why }) => `  ${name}: ${why}`);
  const manager = packageManagerOf(osRelease);
  const names = [...new Set(missing.map(({ packages }) => packages[manager ?? 'apt']))];
  const how = manager
    ? `Install with: ${commands[manager]} ${names.join(' ')}`
    : `Install the packages of your system (on Debian: ${names.join(' ')}).`;
  return [`this machine is missing programs that a node needs:`, ...lines, how].join('\n');
}
