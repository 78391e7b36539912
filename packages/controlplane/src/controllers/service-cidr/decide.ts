import type { IPAddress } from '@kruise/api/networking/ipaddress';
import type { ServiceCIDR } from '@kruise/api/networking/servicecidr';
import { addFinalizer, hasFinalizer, isBeingDeleted, removeFinalizer } from '@kruise/client/actions';
import type { Decision, StatusOf } from '@kruise/client/controller';
import { withCondition } from '@kruise/machinery/conditions';
import { contains, containsPrefix, type Prefix, parseAddress, parsePrefix } from '@kruise/values/address';
import { type Instant, parseTime } from '@kruise/values/time';

export type Observed = {
  readonly range: ServiceCIDR;
  /** All ranges, including this one. */
  readonly ranges: readonly ServiceCIDR[];
  /** IPAddresses of Services. */
  readonly addresses: readonly IPAddress[];
};

const finalizer = 'networking.k8s.io/service-cidr-finalizer';
/** Grace period before an unused range is deleted, until all API servers stop allocating from it. */
const graceMs = 10_000;

type Status = StatusOf<ServiceCIDR>;

/** Keeps a range as long as a Service address is in this range and in no other. */
export function decide({ range, ranges, addresses }: Observed, now: Instant): Decision<Status> {
  if (!isBeingDeleted(range)) {
    const actions = hasFinalizer(range, finalizer) ? [] : [addFinalizer(range, finalizer)];
    return { actions, status: statusOf(range, 'True', '', 'Kubernetes Service CIDR is ready', now) };
  }
  if (!hasFinalizer(range, finalizer)) return { actions: [] };
  if (isNeeded({ range, ranges, addresses })) {
    const message =
      'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';
    return { actions: [], status: statusOf(range, 'False', 'Terminating', message, now) };
  }
  const remainingMs = parseTime(range.metadata.deletionTimestamp ?? '') + graceMs - now;
  if (remainingMs > 0) return { actions: [], requeueAfterSeconds: remainingMs / 1000 };
  return { actions: [removeFinalizer(range, finalizer)] };
}

function statusOf(
  { status: before }: ServiceCIDR,
  status: string,
  reason: string,
  message: string,
  now: Instant,
): Status {
  return { ...before, conditions: withCondition(before?.conditions, { type: 'Ready', status, reason, message }, now) };
}

function isNeeded({ range, ranges, addresses }: Observed): boolean {
  const own = prefixesOf(range);
  const others = ranges.filter(({ metadata }) => metadata.name !== range.metadata.name).flatMap(prefixesOf);
  if (own.every((prefix) => others.some((other) => containsPrefix(other, prefix)))) return false;
  return addresses.some(({ metadata }) => {
    const address = parseAddress(metadata.name ?? '');
    const isIn = (prefix: Prefix) => contains(prefix, address);
    return own.some(isIn) && !others.some(isIn);
  });
}

function prefixesOf({ spec }: ServiceCIDR): readonly Prefix[] {
  return spec?.cidrs?.map(parsePrefix) ?? [];
}
