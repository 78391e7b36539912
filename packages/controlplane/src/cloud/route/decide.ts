import type { Node } from '@kruise/api/core/node';
import { findCondition } from '@kruise/machinery/conditions';
import { contains, lastAddress, masked, type Prefix, parseLegacyPrefix } from '@kruise/values/address';
import type { Route } from '../provider.ts';

/** What is to be done about routes. */
export type RoutePlan = {
  readonly remove: readonly Route[];
  readonly create: readonly { readonly node: Node; readonly destination: string }[];
};

/** A route to every node for each of its ranges; of the cluster's routes, no others. */
export function planRoutes(
  nodes: readonly Node[],
  routes: readonly Route[],
  clusterRanges: readonly Prefix[],
): RoutePlan {
  const wanted = new Map(
    nodes.flatMap((node) => (node.spec?.podCIDRs ?? []).map((range) => [`${node.metadata.name} ${range}`, node])),
  );
  const present = new Set<string>();
  const remove: Route[] = [];
  for (const route of routes) {
    const id = `${route.targetNode} ${route.destination}`;
    const target = wanted.get(id);
    if (target && !route.isBlackhole && isUpToDate(route, target)) present.add(id);
    else if (isOfCluster(route, clusterRanges)) remove.push(route);
  }
  const create = [...wanted]
    .filter(([id]) => !present.has(id))
    .map(([id, node]) => ({ node, destination: id.slice(id.indexOf(' ') + 1) }));
  return { remove, create };
}

/** Whether a node still has the addresses a route was made for, in whatever order. */
function isUpToDate({ targetAddresses }: Route, { status }: Node): boolean {
  if (!targetAddresses) return true;
  const texts = (addresses: Route['targetAddresses'] & {}) =>
    addresses.map(({ type, address }) => `${type} ${address}`).sort();
  return texts(targetAddresses).join() === texts(status?.addresses ?? []).join();
}

/** Whether a route leads into the cluster, so that it is ours to remove. */
function isOfCluster({ destination }: Route, clusterRanges: readonly Prefix[]): boolean {
  let range: Prefix;
  try {
    range = masked(parseLegacyPrefix(destination));
  } catch {
    // Somebody else's, in a form of their own.
    return false;
  }
  return clusterRanges.some((cluster) => contains(cluster, range.address) || contains(cluster, lastAddress(range)));
}

/** The condition of a node by whether all its routes are there; undefined if it says so already. */
export function networkCondition({ status }: Node, hasRoutes: boolean) {
  const isUnavailable = hasRoutes ? 'False' : 'True';
  if (findCondition(status?.conditions, 'NetworkUnavailable')?.status === isUnavailable) return undefined;
  return hasRoutes
    ? {
        type: 'NetworkUnavailable',
        status: 'False',
        reason: 'RouteCreated',
        message: 'RouteController created a route',
      }
    : {
        type: 'NetworkUnavailable',
        status: 'True',
        reason: 'NoRouteCreated',
        message: 'RouteController failed to create a route',
      };
}
