/** Effective resources of a Pod: the sum of its containers, or the maximum of its init containers if that is larger. */
import type { Container } from '@kruise/api/core/container';
import type { ContainerStatus, PodStatus } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { addQuantities, parseQuantity, type Quantity, quantitySign } from '@kruise/values/quantity';
import { type Amounts, addAmounts, amountsOf, maxAmounts, type ResourceList } from './resource-list.ts';

/** Options of the computation. */
export type PodResourcesOptions = {
  /** Set to false to exclude the overhead of the Pod. */
  readonly overhead?: boolean;
  /** During an in-place resize, the maximum of the allocated and the desired resources counts. */
  readonly status?: PodStatus | undefined;
  /** Defaults for resources that a container does not request. */
  readonly missing?: Amounts;
};

type Field = 'requests' | 'limits';

/**
 * Returns the effective requests of a Pod.
 *
 * ```ts
 * const cpu = podRequests({ containers: [{ name: 'main', resources: { requests: { cpu: '500m' } } }] }).get('cpu');
 * ```
 */
export function podRequests(
  spec: PodSpec,
  { overhead = true, status, missing }: PodResourcesOptions = {},
): Map<string, Quantity> {
  const requests = ofContainers(spec, 'requests', status, missing);
  if (overhead) addList(requests, spec.overhead);
  return requests;
}

/** Returns the effective limits of a Pod. */
export function podLimits(spec: PodSpec, { overhead = true, status }: PodResourcesOptions = {}): Map<string, Quantity> {
  const limits = ofContainers(spec, 'limits', status);
  if (!overhead) return limits;
  for (const [name, amount] of amountsOf(spec.overhead)) {
    const limit = limits.get(name);
    if (limit && quantitySign(limit) !== 0) limits.set(name, addQuantities(limit, amount));
  }
  return limits;
}

function ofContainers(
  spec: PodSpec,
  field: Field,
  status: PodStatus | undefined,
  missing?: Amounts,
): Map<string, Quantity> {
  const counted = (amounts: Amounts): Amounts => (missing ? new Map([...missing, ...amounts]) : amounts);
  const total = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) {
    // Fast path: nearly always there are neither defaults nor a resize.
    if (!missing && !status) addList(total, container.resources?.[field]);
    else addTo(total, counted(ofContainer(container, field, status)));
  }
  if (!spec.initContainers?.length) return total;
  let sidecars: Amounts = new Map();
  let largest: Amounts = new Map();
  for (const container of spec.initContainers) {
    // Sidecars run beside all containers that start after them.
    if (isSidecar(container)) {
      const own = counted(ofContainer(container, field, status));
      addTo(total, own);
      sidecars = addAmounts(sidecars, own);
      largest = maxAmounts(largest, sidecars);
    } else {
      largest = maxAmounts(largest, addAmounts(counted(amountsOf(container.resources?.[field])), sidecars));
    }
  }
  return maxAmounts(total, largest);
}

function addTo(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) addOne(total, name, amount);
}

function addList(total: Map<string, Quantity>, list: ResourceList | null | undefined): void {
  for (const name in list) addOne(total, name, parseQuantity(list[name]!));
}

function addOne(total: Map<string, Quantity>, name: string, amount: Quantity): void {
  const already = total.get(name);
  total.set(name, already === undefined ? amount : addQuantities(already, amount));
}

function ofContainer({ name, resources }: Container, field: Field, status: PodStatus | undefined): Amounts {
  const wanted = amountsOf(resources?.[field]);
  if (!status) return wanted;
  const actual = statusOf(status, name);
  if (!actual?.resources) return wanted;
  const has = amountsOf(actual.resources[field]);
  const held = field === 'requests' ? maxAmounts(has, amountsOf(actual.allocatedResources)) : has;
  return isResizeInfeasible(status) ? held : maxAmounts(wanted, held);
}

function statusOf(status: PodStatus, name: string): ContainerStatus | undefined {
  const named = (each: ContainerStatus) => each.name === name;
  return status.containerStatuses?.find(named) ?? status.initContainerStatuses?.find(named);
}

/** A resize that is infeasible on the node is ignored. */
function isResizeInfeasible({ conditions }: PodStatus): boolean {
  return conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}
