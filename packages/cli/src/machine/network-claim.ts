/**
 * Claim on the network of a machine. Tables, routes and chains of a node have fixed names, and each cluster uses the same
 * address ranges, so that a network namespace has one node.
 */
import { readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';

export type NetworkClaim = {
  release(): void;
};

/** Abstract socket: it belongs to the network namespace, and ends with its process. */
const socketName = '\0kruise-node-network';
/** Port of kube-proxy's health check, on every node of every cluster. */
export const proxyHealthPort = 10256;

/** Claims the network namespace of this process; returns undefined if another process has claimed it. */
export function claimNetwork(name = socketName): Promise<NetworkClaim | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(name, () => {
      server.unref();
      resolve({ release: () => void server.close() });
    });
  });
}

/** Claims the network for a node. Throws if another node or another kube-proxy has it. */
export async function requireNetwork(healthPort = proxyHealthPort, name = socketName): Promise<NetworkClaim> {
  const advice = 'run this node in a network namespace of its own (ip netns exec NAME kruise …)';
  const claim = await claimNetwork(name);
  if (!claim) throw new Error(`another node of kruise uses the network of this machine: stop it, or ${advice}`);
  if (await answers(healthPort)) {
    claim.release();
    throw new Error(`another kube-proxy runs on this machine (port ${healthPort}): stop it, or ${advice}`);
  }
  return claim;
}

/** Returns the identity of the network namespace of this process. */
export function networkNamespace(): string {
  return readlinkSync('/proc/self/ns/net');
}

function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).then((isConnected) => {
    socket.destroy();
    return isConnected === true;
  });
}
