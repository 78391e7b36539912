import type { Node } from '@kruise/api/core/node';
import { findCondition } from '@kruise/machinery/conditions';
import { contains, lastAddress, maskPrefix, type Prefix, parseLegacyPrefix } from '@kruise/values/address';
import type { Route } from '../provider.ts';

/** Routes to create and to delete. */
export type RoutePlan = {
  readonly remove: readonly Route[];
  readonly create: readonly { readonly node: Node; readonly destination: string }[];
};

/** Plans one route per Pod CIDR of each node, and the deletion of all other routes in the cluster's Pod CIDRs. */
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
    else if (isInCluster(route, clusterRanges)) remove.push(route);
  }
  const create = [...wanted]
    .filter(([id]) => !present.has(id))
    .map(([id, node]) => ({ node, destination: id.slice(id.indexOf(' ') + 1) }));
  return { remove, create };
}

/** Reports whether the node still has the addresses that the route was created for, in any order. */
function isUpToDate({ targetAddresses }: Route, { status }: Node): boolean {
  if (!targetAddresses) return true;
  const texts = (addresses: Route['targetAddresses'] & {}) =>
    addresses.map(({ type, address }) => `${type} ${address}`).sort();
  return texts(targetAddresses).join() === texts(status?.addresses ?? []).join();
}

/** Reports whether the destination lies in a Pod CIDR of the cluster, so that this controller may delete the route. */
function isInCluster({ destination }: Route, clusterRanges: readonly Prefix[]): boolean {
  let range: Prefix;
  try {
    range = maskPrefix(parseLegacyPrefix(destination));
  } catch {
    // A destination that does not parse belongs to a route of another owner.
    return false;
  }
  return clusterRanges.some((cluster) => contains(cluster, range.address) || contains(cluster, lastAddress(range)));
}

/**
 * Returns the NetworkUnavailable condition of a node, depending on whether all its routes exist; undefined if the
 * condition is already up to date.
 */
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
