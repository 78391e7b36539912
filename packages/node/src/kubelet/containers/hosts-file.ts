/** Contents of `/etc/hosts` in a Pod's containers. */
import type { Pod } from '@kruise/api/core/pod';

const defaultEntries = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

type Name = { readonly hostname: string; readonly domain: string };

/** Returns the hosts file of a Pod with its own network namespace. */
export function managedHostsFile(pod: Pod, podIPs: readonly string[], { hostname, domain }: Name): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  const lines = ['# Kubernetes-managed hosts file.', ...defaultEntries, ...podIPs.map((ip) => `${ip}\t${names}`)];
  return `${lines.join('\n')}\n${aliasesOf(pod)}`;
}

/** Returns the hosts file of a host-network Pod: the node's file plus the Pod's hostAliases. */
export function hostNetworkHostsFile(pod: Pod, nodeHosts: string): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeHosts}${aliasesOf(pod)}`;
}

function aliasesOf({ spec }: Pod): string {
  const aliases = spec?.hostAliases ?? [];
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
