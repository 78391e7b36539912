/**
 * Packs endpoints into slices so that few slices change: every slice that is written is sent to every node. What is in
 * a slice stays there; slices that have to be written anyway are filled first; what is then left goes into one slice
 * that has room for all of it, or into new ones.
 */
import type { Endpoint, EndpointPort, EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { compareStrings } from '@kruise/values/go-syntax';
import { validateDns1123Subdomain, validatePrefix } from '@kruise/values/names';

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';

/** What all endpoints of a slice have in common. */
export type SliceShape = {
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
};

/** A slice as it is to be: one that exists, changed or not, or a new one. */
export type Draft = SliceShape & {
  readonly existing: EndpointSlice | undefined;
  readonly endpoints: readonly Endpoint[];
  /** Whether it has to be written. */
  readonly isChanged: boolean;
};

export type Packing = { readonly drafts: readonly Draft[]; readonly obsolete: readonly EndpointSlice[] };

export type PackOptions = {
  readonly maxPerSlice: number;
  /** Whether a slice has to be written though its endpoints stay: its labels are out of date. */
  readonly isOutdated: (slice: EndpointSlice) => boolean;
};

/** Packs the endpoints of one shape into the slices there are of it. Their ids tell endpoints apart. */
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

/** The endpoints of a slice that are still wanted, as they are wanted. They are wanted no more elsewhere. */
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

/** The slice that is closest to full once so many more are in it. */
function bestFit(slices: readonly EndpointSlice[], count: number, maxPerSlice: number): EndpointSlice | undefined {
  const fitting = slices.filter((slice) => endpointsOf(slice).length + count <= maxPerSlice);
  return fitting.reduce<EndpointSlice | undefined>(
    (best, slice) => (best && endpointsOf(best).length >= endpointsOf(slice).length ? best : slice),
    undefined,
  );
}

/** The endpoints of a slice. A list without items may come back from a server as null, whatever its type. */
export function endpointsOf({ endpoints }: EndpointSlice): readonly Endpoint[] {
  return (endpoints as readonly Endpoint[] | null) ?? [];
}

/** What tells endpoints apart: what is at the address, and under which name. */
export function idOf({ addresses, hostname, targetRef }: Endpoint): string {
  return `${addresses.join()}|${hostname ?? ''}|${targetRef?.namespace ?? ''}/${targetRef?.name ?? ''}`;
}

/** Whether nothing but hints differs, and the version of a Pod, which says nothing about the endpoint. */
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

/** What slices are grouped by: the same ports, in whatever order. */
export function portsId(ports: readonly EndpointPort[] | undefined | null): string {
  return (ports ?? [])
    .map(
      ({ name, port, protocol, appProtocol }) =>
        `${name ?? ''}:${port ?? ''}:${protocol ?? 'TCP'}:${appProtocol ?? ''}`,
    )
    .sort(compareStrings)
    .join();
}

/** What the names of a Service's slices begin with. */
export function sliceNamePrefix(serviceName: string): string {
  const prefix = `${serviceName}-`;
  return validatePrefix(validateDns1123Subdomain, prefix).length === 0 ? prefix : serviceName;
}

/** Slices by the Service they are of, for those that one controller keeps. */
export function byServiceOf(managedBy: string): (slice: EndpointSlice) => readonly string[] {
  return ({ metadata: { namespace, labels } }) => {
    const name = labels?.[serviceNameLabel];
    return name && labels?.[managedByLabel] === managedBy ? [`${namespace}/${name}`] : [];
  };
}
