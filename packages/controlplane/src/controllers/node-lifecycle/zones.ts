/**
 * Eviction rates. If many nodes of a zone fail together, a network failure is more likely than a failure of the nodes,
 * and evicting all their Pods would do more harm than the failure.
 */
import type { Node } from '@kruise/api/core/node';

/** Number of ready and unready nodes of a zone. */
export type ZoneCounts = { readonly ready: number; readonly notReady: number };

/** `full`: no node is ready. `partial`: too many nodes are not ready. */
export type ZoneState = 'normal' | 'partial' | 'full';

export type EvictionLimits = {
  /** Nodes per second while most nodes of a zone are ready. */
  readonly evictionRate: number;
  /** Nodes per second in a large zone with a partial failure. A small zone has no evictions then. */
  readonly secondaryEvictionRate: number;
  /** A zone with more nodes is large. */
  readonly largeClusterSize: number;
  /** Fraction of unready nodes from which a zone counts as unhealthy. */
  readonly unhealthyZoneThreshold: number;
};

/** Returns the zone of a node; all nodes without zone labels share one. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const zone = labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone'] ?? '';
  const region = labels['failure-domain.beta.kubernetes.io/region'] ?? labels['topology.kubernetes.io/region'] ?? '';
  // Label values cannot contain a null character, so zone keys are unique.
  return region === '' && zone === '' ? '' : `${region}\0${zone}`;
}

/** Reports whether a node counts for the state of its zone. */
export function isCounted({ metadata }: Node): boolean {
  return metadata.labels?.['node.kubernetes.io/exclude-disruption'] === undefined;
}

export function stateOfZone({ ready, notReady }: ZoneCounts, { unhealthyZoneThreshold }: EvictionLimits): ZoneState {
  if (ready === 0 && notReady > 0) return 'full';
  return notReady > 2 && notReady / (ready + notReady) >= unhealthyZoneThreshold ? 'partial' : 'normal';
}

/** Reports whether no zone has a ready node: then this controller is probably partitioned from the nodes. */
export function isEveryNodeUnready(zones: ReadonlyMap<string, ZoneCounts>, limits: EvictionLimits): boolean {
  return zones.size > 0 && [...zones.values()].every((counts) => stateOfZone(counts, limits) === 'full');
}

/** Returns the number of nodes of a zone that may be tainted per second. */
export function evictionRateOf(counts: ZoneCounts, limits: EvictionLimits): number {
  if (stateOfZone(counts, limits) !== 'partial') return limits.evictionRate;
  return counts.ready + counts.notReady > limits.largeClusterSize ? limits.secondaryEvictionRate : 0;
}
