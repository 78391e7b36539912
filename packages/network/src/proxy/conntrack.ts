/** Deletes stale UDP flows with the `conntrack` program. */

import { CommandError, type CommandRunner } from '../host/run-command.ts';
import type { ServiceLookup } from '../service/packet-route.ts';
import type { IPFamily } from '../service/service-port.ts';
import { parseFlows, staleFlows } from '../service/stale-flows.ts';

/** Returns the number of deleted flows. */
export async function deleteStaleFlows(
  run: CommandRunner,
  family: IPFamily,
  lookup: ServiceLookup,
  nodePortAddresses: ReadonlySet<string>,
): Promise<number> {
  const common = ['-p', 'udp', '-f', family === 'IPv4' ? 'ipv4' : 'ipv6'];
  const stale = staleFlows(parseFlows(await run('conntrack', ['-L', ...common])), lookup, nodePortAddresses);
  for (const { source, sourcePort, destination, port } of stale) {
    const ports = ['--sport', String(sourcePort), '--dport', String(port)];
    try {
      await run('conntrack', ['-D', ...common, '-s', source, '-d', destination, ...ports]);
    } catch (error) {
      // The flow has ended since it was listed.
      if (!(error instanceof CommandError && error.message.includes('0 flow entries'))) throw error;
    }
  }
  return stale.length;
}
