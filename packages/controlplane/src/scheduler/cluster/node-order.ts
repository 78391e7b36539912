/**
 * Node order: round robin over the zones, so that a search that stops early covers all zones evenly. Within a zone, and
 * among zones, the order is that of addition.
 */
import type { Node } from '@kruise/api/core/node';

export type NodeOrder = {
  set(node: Node): void;
  remove(name: string): void;
  /** Node names; the same array until the order changes. */
  names(): readonly string[];
};

export function createNodeOrder(): NodeOrder {
  const zones = new Map<string, Set<string>>();
  const zoneOf = new Map<string, string>();
  let names: readonly string[] | undefined = [];

  const remove = (name: string) => {
    const zone = zoneOf.get(name);
    if (zone === undefined) return;
    const members = zones.get(zone)!;
    members.delete(name);
    if (members.size === 0) zones.delete(zone);
    zoneOf.delete(name);
    names = undefined;
  };

  return {
    remove,
    set({ metadata: { name = '', labels } }) {
      const zone = zoneKey(labels ?? {});
      if (zoneOf.get(name) === zone) return;
      remove(name);
      const members = zones.get(zone);
      if (members) members.add(name);
      else zones.set(zone, new Set([name]));
      zoneOf.set(name, zone);
      names = undefined;
    },
    names: () => (names ??= inTurn([...zones.values()].map((members) => [...members]))),
  };
}

function inTurn(lists: readonly (readonly string[])[]): readonly string[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? [])).flat();
}

/** Returns the region and zone of a node. Deprecated labels take precedence, as in kube-scheduler. */
function zoneKey(labels: Readonly<Record<string, string>>): string {
  const zone = labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone'] ?? '';
  const region = labels['failure-domain.beta.kubernetes.io/region'] ?? labels['topology.kubernetes.io/region'] ?? '';
  return `${region}\n${zone}`;
}
