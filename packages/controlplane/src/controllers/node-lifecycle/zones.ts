/**
 * How fast Pods may be driven out of nodes that are down. Where many nodes of a zone fail together, it is more likely
 * the network than the nodes, and moving all their Pods would do more harm than the failure.
 */
import type { Node } from '@kruise/api/core/node';

/** How many nodes of a zone are well. */
export type ZoneCensus = { readonly ready: number; readonly notReady: number };

/** `full`: no node is ready. `partial`: too many are not. */
export type ZoneState = 'normal' | 'partial' | 'full';

export type EvictionLimits = {
  /** Nodes a second, while most of a zone is well. */
  readonly evictionRate: number;
  /** Nodes a second, in a large zone of which much is down. A small one is left alone. */
  readonly secondaryEvictionRate: number;
  /** A zone of more nodes is large. */
  readonly largeClusterSize: number;
  /** The part of a zone's nodes that makes a failure one of the zone. */
  readonly unhealthyZoneThreshold: number;
};

/** The zone a node is in; one name for all nodes that do not say. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const zone = labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone'] ?? '';
  const region = labels['failure-domain.beta.kubernetes.io/region'] ?? labels['topology.kubernetes.io/region'] ?? '';
  // Neither of the two can contain a null character, so no two zones share a name.
  return region === '' && zone === '' ? '' : `${region}\0${zone}`;
}

/** Whether a node counts for the state of its zone. */
export function isCounted({ metadata }: Node): boolean {
  return metadata.labels?.['node.kubernetes.io/exclude-disruption'] === undefined;
}

export function stateOfZone({ ready, notReady }: ZoneCensus, { unhealthyZoneThreshold }: EvictionLimits): ZoneState {
  if (ready === 0 && notReady > 0) return 'full';
  return notReady > 2 && notReady / (ready + notReady) >= unhealthyZoneThreshold ? 'partial' : 'normal';
}

/** Whether no zone has a node that is ready: then it is we who are cut off. */
export function isEverythingDown(zones: ReadonlyMap<string, ZoneCensus>, limits: EvictionLimits): boolean {
  return zones.size > 0 && [...zones.values()].every((census) => stateOfZone(census, limits) === 'full');
}

/** How many nodes of a zone may be given the taint that drives Pods out, a second. */
export function evictionRateOf(census: ZoneCensus, limits: EvictionLimits): number {
  if (stateOfZone(census, limits) !== 'partial') return limits.evictionRate;
  return census.ready + census.notReady > limits.largeClusterSize ? limits.secondaryEvictionRate : 0;
}
