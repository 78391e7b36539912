/** Addresses and host ports of a node's sandboxes. */

import { type AddressPool, createAddressPool } from './address-pool.ts';
import type { NetworkPeer, SimulatedNetwork } from './network.ts';
import { isLoopback, loopbackOf } from './network.ts';
import { runtimeError } from './runtime-error.ts';
import { isOnHostNetwork, type SimulatedSandbox } from './sandbox.ts';

export type SandboxNetwork = {
  readonly isReady: boolean;
  /** Sets the Pod CIDRs unless they are already set: sandboxes keep their addresses. */
  setRanges(podCidr: string): void;
  /** Assigns addresses to a sandbox and forwards its host ports. */
  connect(sandbox: SimulatedSandbox): void;
  disconnect(sandbox: SimulatedSandbox): void;
  seenFrom(sandbox: SimulatedSandbox): NetworkPeer;
};

export type SandboxNetworkOptions = {
  readonly network: SimulatedNetwork;
  readonly nodeAddress: string;
  /** Comma-separated; may be empty. */
  readonly podCidr: string;
};

export function createSandboxNetwork({ network, nodeAddress, podCidr }: SandboxNetworkOptions): SandboxNetwork {
  let pools = poolsOf(podCidr);

  function takeAddresses(id: string): readonly string[] {
    const addresses: string[] = [];
    for (const pool of pools) {
      const address = pool.allocate();
      if (address === undefined) {
        giveBack(addresses);
        throw runtimeError(
          'UNKNOWN',
          `failed to setup network for sandbox "${id}": failed to allocate for range 0: no IP addresses available in range set: ${pool.range}`,
        );
      }
      addresses.push(address);
    }
    return addresses;
  }

  /** Returns the node address that a host port is opened on. */
  function hostAddress(hostIp: string): string {
    if (hostIp === '' || hostIp === '0.0.0.0' || hostIp === '::') return nodeAddress;
    return isLoopback(hostIp) ? loopbackOf(nodeAddress) : hostIp;
  }

  function giveBack(addresses: readonly string[]): void {
    for (const [index, address] of addresses.entries()) pools[index]?.release(address);
  }

  return {
    get isReady() {
      return pools.length > 0;
    },
    setRanges(ranges) {
      if (pools.length === 0) pools = poolsOf(ranges);
    },
    connect(sandbox) {
      const { config, id } = sandbox;
      if (isOnHostNetwork(config)) {
        sandbox.interfaces = [network.attach(nodeAddress)];
        return;
      }
      if (pools.length === 0) {
        throw runtimeError('UNKNOWN', `failed to setup network for sandbox "${id}": cni plugin not initialized`);
      }
      sandbox.addresses = takeAddresses(id);
      sandbox.interfaces = sandbox.addresses.map((address) => network.attach(address));
      const mappings = (config.portMappings ?? []).filter(
        ({ hostPort = 0, protocol = 'TCP' }) => hostPort > 0 && protocol !== 'SCTP',
      );
      if (mappings.length === 0) return;
      const [host = ''] = sandbox.addresses;
      const forwarding = mappings.map(({ hostPort = 0, containerPort, protocol = 'TCP', hostIp = '' }) => {
        const node = network.attach(hostAddress(hostIp));
        node.forward(hostPort, { host, port: containerPort }, protocol === 'UDP' ? 'UDP' : 'TCP');
        return node;
      });
      sandbox.releasePorts = () => {
        for (const node of forwarding) node.detach();
      };
    },
    disconnect(sandbox) {
      for (const each of sandbox.interfaces) each.detach();
      giveBack(sandbox.addresses);
      sandbox.releasePorts?.();
      sandbox.interfaces = [];
      sandbox.releasePorts = undefined;
    },
    seenFrom: ({ addresses }) => network.viewFrom(addresses[0] ?? nodeAddress),
  };
}

function poolsOf(podCidr: string): readonly AddressPool[] {
  return podCidr
    .split(',')
    .filter((cidr) => cidr !== '')
    .map(createAddressPool);
}
