/** Where a server that is bound to an address is found. */
import { networkInterfaces } from 'node:os';

/** Where simulated nodes have their way out: what a machine without a network is to them. */
const simulatedGateway = '172.18.0.1';

/** An address others know this machine by: the one that is bound, or the first that is not the machine's own alone. */
export function advertisedIp(bind: string, interfaces = networkInterfaces()): string {
  const isPrivate = bind === 'localhost' || bind === '::1' || bind.startsWith('127.');
  if (!isPrivate && !isWildcard(bind)) return bind;
  const addresses = Object.values(interfaces).flatMap((all) => all ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? simulatedGateway;
}

/** Where this machine itself reaches what is bound. */
export function localHost(bind: string): string {
  return isWildcard(bind) ? 'localhost' : bind;
}

function isWildcard(bind: string): boolean {
  return bind === '0.0.0.0' || bind === '::';
}
