/**
 * UDP flows whose endpoint is gone. conntrack keeps the endpoint of a flow while packets arrive, so that a client which
 * sends from one port would not reach another endpoint.
 */
import type { ServiceLookup } from './packet-route.ts';
import { familyOf, hostPort, type ServicePort } from './service-port.ts';

/** A conntrack entry: the packet as sent, and the source of replies. */
export type Flow = {
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly port: number;
  readonly replySource: string;
  readonly replyPort: number;
};

/** Returns the flows to a Service whose replies come from none of its endpoints. */
export function staleFlows(
  flows: readonly Flow[],
  lookup: ServiceLookup,
  nodePortAddresses: ReadonlySet<string>,
): readonly Flow[] {
  return flows.filter((flow) => {
    const { destination, port } = flow;
    const found =
      lookup.byAddress(destination, port, 'UDP') ??
      (nodePortAddresses.has(destination) ? lookup.byNodePort(port, 'UDP', familyOf(destination)) : undefined);
    // Packets to a Service without endpoints are rejected, whatever conntrack knows.
    if (!found || found.serving.size === 0) return false;
    return !found.serving.has(hostPort(flow.replySource, flow.replyPort));
  });
}

/** Reports whether the change of a Service may leave stale UDP flows. */
export function mayLeaveStaleFlows(before: readonly ServicePort[], after: readonly ServicePort[]): boolean {
  const keyOf = ({ family, portName, protocol }: ServicePort) => `${family} ${protocol} ${portName}`;
  const old = new Map(before.map((port) => [keyOf(port), port]));
  return after.some((port) => {
    if (port.protocol !== 'UDP' || port.serving.size === 0) return false;
    const { serving } = old.get(keyOf(port)) ?? {};
    // A flow that began before the first endpoint has no endpoint at all.
    return !serving || serving.size === 0 || [...serving].some((each) => !port.serving.has(each));
  });
}

/** Parses the output of `conntrack -L`. */
export function parseFlows(text: string): readonly Flow[] {
  return text.split('\n').flatMap((line): readonly Flow[] => {
    const values = new Map<string, string[]>();
    for (const [, name = '', value = ''] of line.matchAll(/\b(src|dst|sport|dport)=(\S+)/g)) {
      values.set(name, [...(values.get(name) ?? []), value]);
    }
    const [source, replySource] = values.get('src') ?? [];
    const [sourcePort, replyPort] = values.get('sport') ?? [];
    const [destination] = values.get('dst') ?? [];
    const [port] = values.get('dport') ?? [];
    if (source === undefined || replySource === undefined || destination === undefined) return [];
    return [
      {
        source,
        sourcePort: Number(sourcePort),
        destination,
        port: Number(port),
        replySource,
        replyPort: Number(replyPort),
      },
    ];
  });
}
