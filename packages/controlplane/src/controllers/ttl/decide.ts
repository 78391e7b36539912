import type { Node } from '@kruise/api/core/node';
import { patch } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';

export const ttlAnnotation = 'node.alpha.kubernetes.io/ttl';

/** TTL of cached Secrets and ConfigMaps by the number of nodes. */
const steps = [
  { fewest: 0, most: 100, ttlSeconds: 0 },
  { fewest: 90, most: 500, ttlSeconds: 15 },
  { fewest: 450, most: 1000, ttlSeconds: 30 },
  { fewest: 900, most: 2000, ttlSeconds: 60 },
  { fewest: 1800, most: Number.POSITIVE_INFINITY, ttlSeconds: 300 },
] as const;

export type Observed = { readonly node: Node; readonly nodeCount: number };

/**
 * A node keeps its TTL while the cluster size is within overlapping bounds, so that one added or removed node does not
 * change all others.
 */
export function decide({ node, nodeCount }: Observed): Decision<Node['status']> {
  const current = node.metadata.annotations?.[ttlAnnotation];
  const isKept = steps.some(
    ({ fewest, most, ttlSeconds }) => String(ttlSeconds) === current && nodeCount >= fewest && nodeCount <= most,
  );
  if (isKept) return { actions: [] };
  const { ttlSeconds } = steps.find(({ most }) => nodeCount <= most)!;
  return { actions: [patch(node, { metadata: { annotations: { [ttlAnnotation]: String(ttlSeconds) } } })] };
}

/** Reports whether the TTL of nodes may change at this cluster size. */
export function isAtBound(nodeCount: number): boolean {
  return steps.some(({ fewest, most }) => nodeCount === fewest - 1 || nodeCount === most + 1);
}
