/** Addresses at which a bound server is reachable. */
import { networkInterfaces } from 'node:os';

/** Gateway of simulated nodes, which stands for a machine without a network. */
const simulatedGateway = '172.18.0.1';

/** Returns the address to advertise to others: the bound address, or the first address that is not loopback. */
export function advertisedIp(bind: string, interfaces = networkInterfaces()): string {
  if (!isLoopback(bind) && !isWildcard(bind)) return bind;
  const addresses = Object.values(interfaces).flatMap((all) => all ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? simulatedGateway;
}

/** Reports whether only this machine reaches a bound address. */
export function isLoopback(bind: string): boolean {
  return bind === 'localhost' || bind === '::1' || bind.startsWith('127.');
}

/** Returns the host by which this machine reaches a bound address. */
export function localHost(bind: string): string {
  return isWildcard(bind) ? 'localhost' : bind;
}

function isWildcard(bind: string): boolean {
  return bind === '0.0.0.0' || bind === '::';
}
