/**
 * Packs endpoints into slices with few changes: every changed slice is sent to every node. Endpoints stay in their
 * slice; slices that change anyway are filled first; the rest goes into one slice with enough room, or into new slices.
 */
import type { Endpoint, EndpointPort, EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { compareStrings } from '@kruise/values/go-syntax';
import { validateDns1123Subdomain, validatePrefix } from '@kruise/values/names';

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';

/** Address type and ports shared by all endpoints of a slice. */
export type SliceShape = {
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
};

/** Desired state of a slice: an existing slice, changed or not, or a new one. */
export type Draft = SliceShape & {
  readonly existing: EndpointSlice | undefined;
  readonly endpoints: readonly Endpoint[];
  /** Reports whether the slice must be written. */
  readonly isChanged: boolean;
};

export type Packing = { readonly drafts: readonly Draft[]; readonly obsolete: readonly EndpointSlice[] };

export type PackOptions = {
  readonly maxPerSlice: number;
  /** Reports whether a slice must be written although its endpoints are unchanged, because its labels are stale. */
  readonly isOutdated: (slice: EndpointSlice) => boolean;
};

/** Packs the endpoints of one shape into its existing slices. Endpoints are identified by their IDs. */
export function pack(
  shape: SliceShape,
  existing: readonly EndpointSlice[],
  wanted: ReadonlyMap<string, Endpoint>,
  { maxPerSlice, isOutdated }: PackOptions,
): Packing {
  const left = new Map(wanted);
  const changed: MutableDraft[] = [];
  const unchanged: EndpointSlice[] = [];
  const obsolete: EndpointSlice[] = [];
  for (const slice of existing) {
    const { kept, isSameAsBefore } = keep(slice, left);
    if (isSameAsBefore && !isOutdated(slice)) unchanged.push(slice);
    else if (kept.length === 0 && !isSameAsBefore) obsolete.push(slice);
    else changed.push({ existing: slice, endpoints: isSameAsBefore ? [...endpointsOf(slice)] : kept });
  }

  const rest = left.values();
  let remaining = left.size;
  const fill = ({ endpoints }: MutableDraft) => {
    while (remaining > 0 && endpoints.length < maxPerSlice) {
      endpoints.push(rest.next().value!);
      remaining--;
    }
  };
  for (const draft of changed.toSorted((a, b) => b.endpoints.length - a.endpoints.length)) fill(draft);
  while (remaining > 0) {
    const roomy = remaining < maxPerSlice ? bestFit(unchanged, remaining, maxPerSlice) : undefined;
    if (roomy) unchanged.splice(unchanged.indexOf(roomy), 1);
    const draft: MutableDraft = { existing: roomy, endpoints: roomy ? [...endpointsOf(roomy)] : [] };
    fill(draft);
    changed.push(draft);
  }
  return {
    drafts: [
      ...changed.map((draft) => ({ ...shape, ...draft, isChanged: true })),
      ...unchanged.map((slice) => ({ ...shape, existing: slice, endpoints: endpointsOf(slice), isChanged: false })),
    ],
    obsolete,
  };
}

type MutableDraft = { readonly existing: EndpointSlice | undefined; readonly endpoints: Endpoint[] };

/**
 * Returns the endpoints of a slice that are still desired, in their desired state, and removes them from the remaining
 * ones.
 */
function keep(slice: EndpointSlice, left: Map<string, Endpoint>) {
  const kept: Endpoint[] = [];
  let isSameAsBefore = true;
  for (const present of endpointsOf(slice)) {
    const id = idOf(present);
    const wanted = left.get(id);
    if (!wanted) {
      isSameAsBefore = false;
      continue;
    }
    left.delete(id);
    kept.push(wanted);
    isSameAsBefore &&= isSameEndpoint(present, wanted);
  }
  return { kept, isSameAsBefore };
}

/** Returns the slice that is closest to full after adding that many endpoints. */
function bestFit(slices: readonly EndpointSlice[], count: number, maxPerSlice: number): EndpointSlice | undefined {
  const fitting = slices.filter((slice) => endpointsOf(slice).length + count <= maxPerSlice);
  return fitting.reduce<EndpointSlice | undefined>(
    (best, slice) => (best && endpointsOf(best).length >= endpointsOf(slice).length ? best : slice),
    undefined,
  );
}

/** Returns the endpoints of a slice. A server may return an empty list as null, whatever the schema says. */
export function endpointsOf({ endpoints }: EndpointSlice): readonly Endpoint[] {
  return (endpoints as readonly Endpoint[] | null) ?? [];
}

/** Identity of an endpoint: its target reference, addresses and hostname. */
export function idOf({ addresses, hostname, targetRef }: Endpoint): string {
  return `${addresses.join()}|${hostname ?? ''}|${targetRef?.namespace ?? ''}/${targetRef?.name ?? ''}`;
}

/**
 * Reports whether two endpoints are equal, ignoring hints and the resourceVersion of the target, which do not affect
 * the endpoint.
 */
function isSameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions?.ready === b.conditions?.ready &&
    a.conditions?.serving === b.conditions?.serving &&
    a.conditions?.terminating === b.conditions?.terminating &&
    a.targetRef?.uid === b.targetRef?.uid &&
    a.targetRef?.kind === b.targetRef?.kind
  );
}

/** Returns a key that groups slices with the same ports, in any order. */
export function portsId(ports: readonly EndpointPort[] | undefined | null): string {
  return (ports ?? [])
    .map(
      ({ name, port, protocol, appProtocol }) =>
        `${name ?? ''}:${port ?? ''}:${protocol ?? 'TCP'}:${appProtocol ?? ''}`,
    )
    .sort(compareStrings)
    .join();
}

/** Returns the name prefix of a Service's slices. */
export function sliceNamePrefix(serviceName: string): string {
  const prefix = `${serviceName}-`;
  return validatePrefix(validateDns1123Subdomain, prefix).length === 0 ? prefix : serviceName;
}

/** Indexes the slices that one controller manages by their Service. */
export function byServiceOf(managedBy: string): (slice: EndpointSlice) => readonly string[] {
  return ({ metadata: { namespace, labels } }) => {
    const name = labels?.[serviceNameLabel];
    return name && labels?.[managedByLabel] === managedBy ? [`${namespace}/${name}`] : [];
  };
}
