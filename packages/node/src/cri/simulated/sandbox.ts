import type { NamespaceOption, PodSandboxConfig, PodSandboxState, PodSandboxStatus } from '../messages.ts';
import type { PodSandbox } from '../runtime.ts';
import type { SimulatedContainer } from './container.ts';
import type { NetworkInterface } from './network.ts';

/** A sandbox of the simulated runtime. */
export type SimulatedSandbox = {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  state: PodSandboxState;
  /** IPs of the sandbox; empty for the host network. */
  addresses: readonly string[];
  /** One interface per address: the sandbox's, or the node's. */
  interfaces: readonly NetworkInterface[];
  readonly containers: Set<SimulatedContainer>;
  /** Memoized status and the addresses it was built with. */
  memoizedStatus: { readonly status: PodSandboxStatus; readonly addresses: readonly string[] } | undefined;
  /** Closes the forwarded host ports. */
  releasePorts: (() => void) | undefined;
};

export function isOnHostNetwork(config: PodSandboxConfig): boolean {
  return namespaceOptions(config)?.network === 'NODE';
}

function namespaceOptions(config: PodSandboxConfig): NamespaceOption | undefined {
  return config.linux?.securityContext?.namespaceOptions;
}

export function sandboxMessage(sandbox: SimulatedSandbox): PodSandbox {
  const { id, config, state, createdAt, runtimeHandler } = sandbox;
  return {
    id,
    metadata: config.metadata,
    state,
    createdAt,
    labels: config.labels ?? {},
    annotations: config.annotations ?? {},
    runtimeHandler,
  };
}

/** Returns the memoized status: it is read often and changes rarely. */
export function sandboxStatus(sandbox: SimulatedSandbox): PodSandboxStatus {
  const { memoizedStatus, state, addresses } = sandbox;
  if (memoizedStatus?.status.state !== state || memoizedStatus.addresses !== addresses) {
    sandbox.memoizedStatus = { status: newStatus(sandbox), addresses };
  }
  return sandbox.memoizedStatus!.status;
}

function newStatus(sandbox: SimulatedSandbox): PodSandboxStatus {
  const { config, addresses } = sandbox;
  const [ip = '', ...others] = addresses;
  const options = namespaceOptions(config);
  return {
    ...sandboxMessage(sandbox),
    network: { ip, additionalIps: others.map((address) => ({ ip: address })) },
    linux: { namespaces: { options: { network: 'POD', pid: 'POD', ipc: 'POD', ...options } } },
  };
}
