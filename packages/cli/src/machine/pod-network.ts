/** CNI configuration of the Pod network of a node: a bridge on which Pods of the node's Pod CIDR get their addresses. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../data-directory.ts';

export type PodNetworkSettings = {
  /** `spec.podCIDR` of the Node. */
  readonly podRange: string;
  /** MTU of the interface by which the node reaches others. */
  readonly mtu: number;
  /** True if iptables is installed, which masquerading and host ports need. */
  readonly hasFirewall: boolean;
  /** Directory of the address allocations. */
  readonly allocations: string;
};

/** Name of the bridge, at most 15 characters. */
export const podBridge = 'kruise0';

/** Returns the network configuration list. */
export function podNetworkConfiguration({ podRange, mtu, hasFirewall, allocations }: PodNetworkSettings): object {
  const bridge = {
    type: 'bridge',
    bridge: podBridge,
    isGateway: true,
    isDefaultGateway: true,
    // A Pod reaches itself through a Service.
    hairpinMode: true,
    ipMasq: hasFirewall,
    mtu,
    ipam: { type: 'host-local', ranges: [[{ subnet: podRange }]], dataDir: allocations },
  };
  const portmap = { type: 'portmap', capabilities: { portMappings: true }, snat: true };
  return { cniVersion: '0.4.0', name: 'kruise', plugins: [bridge, ...(hasFirewall ? [portmap] : [])] };
}

const fileName = '10-kruise.conflist';

/**
 * Writes the configuration into a directory that the runtime watches. A directory with the configuration of another
 * network is left alone; returns false then.
 */
export function writePodNetwork(directory: string, settings: PodNetworkSettings): boolean {
  mkdirSync(directory, { recursive: true });
  const others = readdirSync(directory).filter((name) => /\.(conf|conflist|json)$/.test(name) && name !== fileName);
  if (others.length > 0) return false;
  writeFileAtomically(join(directory, fileName), JSON.stringify(podNetworkConfiguration(settings), null, 2), 0o644);
  return true;
}

/** Removes the configuration and the bridge: the interfaces of Pods disappear with them, but the bridge remains. */
export function removePodNetwork(directory: string): void {
  const file = join(directory, fileName);
  if (!existsSync(file)) return;
  rmSync(file);
  spawnSync('ip', ['link', 'delete', podBridge], { stdio: 'ignore' });
}
