/** Selects the mode by what the kernel and the installed programs can do. */

import { CommandError, type CommandRunner } from '../host/run-command.ts';
import type { IPFamily } from '../service/service-port.ts';
import { programOf } from './iptables-proxier.ts';
import type { ProxyMode } from './proxier.ts';

/** Oldest version of nft with all features that the rules need. */
const minNftVersion = [1, 0, 1];

/** A table with each feature of the kernel that the rules need; it is checked and not created. */
const probeTable = (family: 'ip' | 'ip6') => `
add table ${family} kube-proxy-probe { comment "probe" ; }
add chain ${family} kube-proxy-probe services { type nat hook output priority -100 ; }
add chain ${family} kube-proxy-probe masquerading { type nat hook postrouting priority 100 ; }
add map ${family} kube-proxy-probe nodeports { type inet_proto . inet_service : verdict ; }
add rule ${family} kube-proxy-probe services fib daddr type local meta l4proto . th dport vmap @nodeports
add rule ${family} kube-proxy-probe services numgen random mod 2 0 drop
add rule ${family} kube-proxy-probe masquerading ct status dnat masquerade fully-random
`;

/** Reports whether nft works for a family. */
export async function hasNftables(run: CommandRunner, family: IPFamily): Promise<boolean> {
  return succeeds(async () => {
    const [, version = ''] = /v(\d+\.\d+(?:\.\d+)?)/.exec(await run('nft', ['--version'])) ?? [];
    if (!isAtLeast(version.split('.').map(Number), minNftVersion)) return;
    await run('nft', ['-c', '-f', '-'], { input: probeTable(family === 'IPv4' ? 'ip' : 'ip6') });
    return true;
  });
}

/** Reports whether iptables works for a family. */
export async function hasIptables(run: CommandRunner, family: IPFamily, variant = 'iptables'): Promise<boolean> {
  return succeeds(async () => {
    await run(programOf(variant, family), ['-w', '5', '-t', 'nat', '-S', 'POSTROUTING']);
    return true;
  });
}

/** Returns the families that a mode can handle on this machine. */
export async function familiesOf(run: CommandRunner, mode: ProxyMode): Promise<readonly IPFamily[]> {
  const works = mode === 'nftables' ? hasNftables : hasIptables;
  const families: IPFamily[] = [];
  for (const family of ['IPv4', 'IPv6'] as const) if (await works(run, family)) families.push(family);
  return families;
}

/** Selects nftables where it works, otherwise iptables. Throws if neither does. */
export async function selectMode(run: CommandRunner): Promise<ProxyMode> {
  if ((await hasNftables(run, 'IPv4')) || (await hasNftables(run, 'IPv6'))) return 'nftables';
  if ((await hasIptables(run, 'IPv4')) || (await hasIptables(run, 'IPv6'))) return 'iptables';
  throw new Error('neither nft nor iptables works on this machine; install nftables 1.0.1 or newer and run as root');
}

async function succeeds(probe: () => Promise<true | undefined>): Promise<boolean> {
  try {
    return (await probe()) ?? false;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

function isAtLeast(version: readonly number[], wanted: readonly number[]): boolean {
  for (const [index, part] of wanted.entries()) {
    const own = version[index] ?? 0;
    if (own !== part) return own > part;
  }
  return true;
}
