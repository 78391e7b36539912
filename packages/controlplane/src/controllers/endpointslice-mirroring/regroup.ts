import type { EndpointAddress, EndpointPort, EndpointSubset } from '@kruise/api/core/endpoints';

type Members = Map<string, { readonly address: EndpointAddress; readonly isReady: boolean }>;

/**
 * Regroups custom subsets by port: ports with the same addresses form one subset. An address that is both ready and not
 * ready counts as not ready.
 */
export function regroup(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  const byPort = new Map<string, { readonly port: EndpointPort | undefined; readonly members: Members }>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length > 0 ? ports : [undefined]) {
      const id = port ? [port.name, port.port, port.protocol, port.appProtocol].join('|') : '';
      let group = byPort.get(id);
      if (!group) byPort.set(id, (group = { port, members: new Map() }));
      for (const address of addresses) join(group.members, address, true);
      for (const address of notReadyAddresses) join(group.members, address, false);
    }
  }
  const byMembers = new Map<string, { readonly ports: EndpointPort[]; readonly members: Members }>();
  for (const { port, members } of byPort.values()) {
    const id = [...members]
      .map(([address, { isReady }]) => `${address} ${isReady}`)
      .sort()
      .join();
    let group = byMembers.get(id);
    if (!group) byMembers.set(id, (group = { ports: [], members }));
    if (port) group.ports.push(port);
  }
  return [...byMembers.values()].map(({ ports, members }) => ({
    addresses: [...members.values()].filter(({ isReady }) => isReady).map(({ address }) => address),
    notReadyAddresses: [...members.values()].filter(({ isReady }) => !isReady).map(({ address }) => address),
    ports,
  }));
}

/** Two Pods may share the address of their node: the target reference distinguishes them. */
function join(members: Members, address: EndpointAddress, isReady: boolean): void {
  const id = `${address.ip} ${address.targetRef?.uid ?? ''}`;
  const known = members.get(id);
  if (!known || known.isReady) members.set(id, { address: known?.address ?? address, isReady });
}
