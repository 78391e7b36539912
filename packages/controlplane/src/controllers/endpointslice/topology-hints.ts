/**
 * Topology hints: zones whose clients should use an endpoint. With `topology-mode: Auto`, each zone gets a share of the
 * endpoints proportional to its CPUs, preferably endpoints in the zone itself; with `trafficDistribution`, each
 * endpoint serves its own zone.
 */
import type { Node } from '@kruise/api/core/node';
import type { Endpoint } from '@kruise/api/discovery/endpointslice';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { milliValue, parseQuantity } from '@kruise/values/quantity';
import type { Draft } from './slice-set.ts';

/** Maximum overload of an endpoint, relative to its expected share of the traffic. */
const overload = 0.2;

const excludedLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/**
 * Returns the share of CPUs of each zone; undefined if a node does not report its zone or CPUs, or if there is only one
 * zone.
 */
export function zoneShares(nodes: readonly Node[]): ReadonlyMap<string, number> | undefined {
  const byZone = new Map<string, number>();
  let total = 0;
  for (const { metadata, status } of nodes) {
    if (excludedLabels.some((label) => metadata.labels?.[label] !== undefined)) continue;
    if (!isConditionTrue(status?.conditions, 'Ready')) continue;
    const zone = metadata.labels?.['topology.kubernetes.io/zone'];
    const cpus = milliValue(parseQuantity(status?.allocatable?.['cpu'] ?? '0'));
    if (!zone || cpus === 0) return undefined;
    byZone.set(zone, (byZone.get(zone) ?? 0) + cpus);
    total += cpus;
  }
  if (byZone.size < 2) return undefined;
  return new Map([...byZone].map(([zone, cpus]) => [zone, cpus / total]));
}

type Allocation = { readonly minimum: number; readonly maximum: number; readonly desired: number };

/** Returns the number of endpoints for each zone; a message if every allocation would overload an endpoint. */
export function allocationsOf(
  shares: ReadonlyMap<string, number> | undefined,
  endpointCount: number,
): ReadonlyMap<string, Allocation> | string {
  if (!shares) {
    return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
  }
  const counts = `(${endpointCount} endpoints, ${shares.size} zones)`;
  if (shares.size > endpointCount) return `Insufficient number of endpoints ${counts}`;
  const minimums = new Map(
    [...shares].map(([zone, share]) => [zone, Math.ceil((share * endpointCount) / (1 + overload))]),
  );
  const total = minimums.values().reduce((sum, minimum) => sum + minimum, 0);
  if (total > endpointCount) {
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`;
  }
  return new Map(
    [...shares].map(([zone, share]) => {
      const minimum = minimums.get(zone) ?? 0;
      const desired = Math.max(share * endpointCount, minimum);
      return [zone, { minimum, maximum: minimum + endpointCount - total, desired }];
    }),
  );
}

/** Returns the slices with hints by CPU share; a message if no allocation is possible. */
export function hintByShare(
  drafts: readonly Draft[],
  shares: ReadonlyMap<string, number> | undefined,
): readonly Draft[] | string {
  const count = drafts.reduce((sum, { endpoints }) => sum + endpoints.filter(isReady).length, 0);
  const allocations = allocationsOf(shares, count);
  if (typeof allocations === 'string') return allocations;

  // Unchanged slices keep their hints as long as the remaining slices can still be allocated.
  const allocated = new Map<string, number>();
  const add = (zone: string, difference: number) => allocated.set(zone, (allocated.get(zone) ?? 0) + difference);
  const open = drafts.map((draft) => {
    const present = draft.isChanged ? undefined : presentHints(draft, allocated, allocations);
    for (const [zone, hints] of present ?? []) add(zone, hints);
    return !present;
  });
  for (const [index, { endpoints }] of drafts.entries()) {
    if (!open[index]) continue;
    for (const endpoint of endpoints) {
      if (!isReady(endpoint)) continue;
      if (!endpoint.zone) return 'One or more endpoints do not have a zone specified';
      add(endpoint.zone, 1);
    }
  }
  if (allocated.size === 0) return 'No hints allocated for zones';

  const { donors, receivers } = transfersOf(allocations, allocated);
  const zoneFor = (endpoint: Endpoint): string => {
    const zone = endpoint.zone ?? '';
    const [receiver] = receivers.keys();
    if (receiver === undefined || !donors.has(zone)) return zone;
    takeOne(donors, zone);
    takeOne(receivers, receiver);
    return receiver;
  };
  return drafts.map((draft, index) =>
    open[index] ? withHints(draft, (endpoint) => (isReady(endpoint) ? [zoneFor(endpoint)] : undefined)) : draft,
  );
}

/**
 * Returns the hints of a slice by zone if they can stay: none is missing, and none refers to a removed zone or exceeds
 * the zone's allocation.
 */
function presentHints(
  { endpoints }: Draft,
  allocated: ReadonlyMap<string, number>,
  allocations: ReadonlyMap<string, Allocation>,
): ReadonlyMap<string, number> | undefined {
  const byZone = new Map<string, number>();
  for (const endpoint of endpoints) {
    if (!isReady(endpoint)) continue;
    const zones = endpoint.hints?.forZones ?? [];
    if (zones.length === 0) return undefined;
    for (const { name } of zones) byZone.set(name, (byZone.get(name) ?? 0) + 1);
  }
  const fits = [...byZone].every(([zone, hints]) => {
    const allocation = allocations.get(zone);
    return allocation && hints + (allocated.get(zone) ?? 0) <= allocation.maximum;
  });
  return fits ? byZone : undefined;
}

/** Returns how many endpoints to transfer between zones. Less than half an endpoint is not worth a transfer. */
export function transfersOf(
  allocations: ReadonlyMap<string, Allocation>,
  allocated: ReadonlyMap<string, number>,
): { readonly donors: Map<string, number>; readonly receivers: Map<string, number> } {
  const surplus = new Map<string, number>();
  const shortage = new Map<string, number>();
  for (const [zone, { desired }] of allocations) {
    const difference = (allocated.get(zone) ?? 0) - desired;
    if (difference > 0) surplus.set(zone, difference);
    else if (difference < 0) shortage.set(zone, -difference);
  }
  const donors = new Map<string, number>();
  const receivers = new Map<string, number>();
  for (;;) {
    const from = largest(surplus);
    const to = largest(shortage);
    if (!from || !to || from[1] < 0.5 || to[1] < 0.5 || (from[1] < 1 && to[1] < 1)) return { donors, receivers };
    donors.set(from[0], (donors.get(from[0]) ?? 0) + 1);
    surplus.set(from[0], from[1] - 1);
    receivers.set(to[0], (receivers.get(to[0]) ?? 0) + 1);
    shortage.set(to[0], to[1] - 1);
  }
}

function largest(amounts: ReadonlyMap<string, number>): readonly [string, number] | undefined {
  return [...amounts].reduce<readonly [string, number] | undefined>(
    (most, entry) => (entry[1] > (most?.[1] ?? 0) ? entry : most),
    undefined,
  );
}

function takeOne(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

/** Returns the slices with hints to each endpoint's own zone. */
export function hintByZone(drafts: readonly Draft[]): readonly Draft[] {
  return drafts.map((draft) =>
    withHints(draft, (endpoint) => (isReady(endpoint) && endpoint.zone ? [endpoint.zone] : undefined)),
  );
}

/** Returns the slices without hints. */
export function withoutHints(drafts: readonly Draft[]): readonly Draft[] {
  return drafts.map((draft) => withHints(draft, () => undefined));
}

/** Returns the slice with hints, marked as changed if the hints differ. */
function withHints(draft: Draft, zonesOf: (endpoint: Endpoint) => readonly string[] | undefined): Draft {
  let isChanged = false;
  const endpoints = draft.endpoints.map((endpoint) => {
    const zones = zonesOf(endpoint);
    const present = endpoint.hints?.forZones?.map(({ name }) => name);
    if (zones?.join() === present?.join()) return endpoint;
    isChanged = true;
    const { hints: _, ...others } = endpoint;
    return zones ? { ...others, hints: { forZones: zones.map((name) => ({ name })) } } : others;
  });
  return isChanged ? { ...draft, endpoints, isChanged } : draft;
}

function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready === true;
}
