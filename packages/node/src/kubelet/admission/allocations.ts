/**
 * Resource allocations of the node's Pods. Allocated resources are reserved on the node; actuated resources were last
 * applied to the running containers. Both follow the Pod spec during an in-place resize.
 */
import type { Container } from '@kruise/api/core/container';
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import type { ResourceRequirements } from '@kruise/api/core/resources';
import { isSame } from '@kruise/machinery/json-value';
import { podRequests } from '@kruise/machinery/pod-resources';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { formatQuantity, milliValue, parseQuantity, quantityOf, quantityValue } from '@kruise/values/quantity';
import type { ResizeAction } from '../pods/pod-actions.ts';
import type { ConditionValue } from '../pods/pod-conditions.ts';
import type { RuntimeContainer } from '../runtime/runtime-pod.ts';
import { isStaticPod } from './critical.ts';

/** Rejection of a Pod: the reason and the message that admission reports. */
export type Rejection = { readonly reason: string; readonly message: string };

/** Result of a resize request. */
export type Resize = {
  /** The Pod with its allocated resources. */
  readonly pod: Pod;
  /** PodResizePending condition to report, if the resize is pending. */
  readonly pending: ConditionValue | undefined;
  /** Containers whose allocation has just changed. */
  readonly changed: readonly string[];
};

/** Resource allocations of all Pods on a node. */
export type Allocations = {
  /** Allocates the resources that a newly admitted Pod requests. */
  admit(pod: Pod): void;
  /** Allocates the resources that a Pod requests now, if the node has room for them. */
  resize(pod: Pod, node: { readonly allocatable: ResourceList; admits(pod: Pod): Rejection | undefined }): Resize;
  /** Returns the resources allocated to all Pods except one. */
  usedByOthers(uid: string): Usage;
  /** Records the resources that a container was created or updated with. */
  actuate(uid: string, container: Container): void;
  /** Returns the action that brings a running container to its allocated resources. */
  resizeActionFor(uid: string, container: Container, running: RuntimeContainer): ResizeAction;
  /** Returns the resources to report in a container status. */
  statusOf(
    uid: string,
    container: Container,
    found: RuntimeContainer,
  ): Pick<ContainerStatus, 'resources' | 'allocatedResources'>;
  remove(uid: string): void;
};

type Entry = { pod: Pod; requests: Requests; readonly actuated: Map<string, ResourceRequirements> };

/** Amounts by resource name: CPU in millicores, other resources in whole units. */
export type Requests = ReadonlyMap<string, number>;

/** Allocated amount of each resource. */
export type Usage = { of(resource: string): number; readonly podCount: number };

/** Returns the resources that a Pod requests, as numbers. */
export function requestsOf({ spec }: Pod): Requests {
  const requests = new Map<string, number>();
  if (!spec) return requests;
  for (const [name, amount] of podRequests(spec)) {
    requests.set(name, name === 'cpu' ? milliValue(amount) : quantityValue(amount));
  }
  return requests;
}

const resizable = ['cpu', 'memory'] as const;

/** Creates an empty set of allocations. */
export function createAllocations(): Allocations {
  const entries = new Map<string, Entry>();
  // Running totals: summing over all Pods on each admission is too slow on a node with many Pods.
  const totals = new Map<string, number>();
  const count = (requests: Requests, sign: 1 | -1) => {
    for (const [name, amount] of requests) totals.set(name, (totals.get(name) ?? 0) + sign * amount);
  };
  const updateAllocation = (entry: Entry, pod: Pod) => {
    count(entry.requests, -1);
    entry.pod = pod;
    entry.requests = requestsOf(pod);
    count(entry.requests, 1);
  };

  return {
    admit(requestedPod) {
      const uid = requestedPod.metadata.uid ?? '';
      if (entries.has(uid)) return;
      const pod = withAllocatedResources(requestedPod);
      const requests = requestsOf(pod);
      entries.set(uid, { pod, requests, actuated: new Map() });
      count(requests, 1);
    },
    resize(pod, node) {
      const uid = pod.metadata.uid ?? '';
      const entry = entries.get(uid);
      if (!entry) return { pod, pending: undefined, changed: [] };
      const kept = withResourcesOf(pod, entry.pod);
      if (kept === pod) {
        entry.pod = pod;
        return { pod, pending: undefined, changed: [] };
      }
      const refusal = infeasibleReason(pod, node.allocatable) ?? deferredRejection(node.admits(pod));
      if (refusal) {
        entry.pod = kept;
        const { reason, message } = refusal;
        return { pod: kept, pending: { type: 'PodResizePending', status: 'True', reason, message }, changed: [] };
      }
      const changed = allOf(pod)
        .filter(({ name, resources }) => !isSame(resources, find(kept, name)?.resources))
        .map(({ name }) => name);
      updateAllocation(entry, pod);
      return { pod, pending: undefined, changed };
    },
    usedByOthers(uid) {
      const own = entries.get(uid)?.requests;
      return {
        of: (resource) => (totals.get(resource) ?? 0) - (own?.get(resource) ?? 0),
        podCount: entries.size - (own ? 1 : 0),
      };
    },
    actuate(uid, { name, resources }) {
      entries.get(uid)?.actuated.set(name, resources ?? {});
    },
    resizeActionFor(uid, container, running) {
      const actuated = entries.get(uid)?.actuated.get(container.name);
      const before = actuated ?? requirementsOf(running, container);
      const wanted = container.resources ?? {};
      let need: ResizeAction = 'none';
      for (const name of resizable) {
        if (isSameAmount(before, wanted, name)) continue;
        const policy = container.resizePolicy?.find(({ resourceName }) => resourceName === name)?.restartPolicy;
        if (policy === 'RestartContainer') return 'restart';
        need = 'update';
      }
      return need;
    },
    statusOf(uid, container, found) {
      const { resources } = container;
      const allocated = resources?.requests ? { allocatedResources: resources.requests } : {};
      const actuated = entries.get(uid)?.actuated.get(container.name);
      return { resources: actualRequirements(resources ?? {}, actuated, found), ...allocated };
    },
    remove(uid) {
      const entry = entries.get(uid);
      if (!entry) return;
      count(entry.requests, -1);
      entries.delete(uid);
    },
  };
}

function allOf({ spec }: Pod): readonly Container[] {
  return [...(spec?.initContainers ?? []).filter(isSidecar), ...(spec?.containers ?? [])];
}

function find(pod: Pod, name: string): Container | undefined {
  return allOf(pod).find((each) => each.name === name);
}

/** Returns the Pod with the resources of another version of the same Pod; returns the same object if they are equal. */
function withResourcesOf(pod: Pod, other: Pod): Pod {
  if (pod.spec === other.spec) return pod;
  if (allOf(pod).every(({ name, resources }) => isSame(resources ?? {}, find(other, name)?.resources ?? {})))
    return pod;
  const restored = (container: Container): Container => {
    const { resources: _, ...rest } = container;
    const resources = find(other, container.name)?.resources;
    return resources ? { ...rest, resources } : rest;
  };
  return withContainers(pod, restored);
}

/** Returns a Pod with each regular and sidecar container replaced. */
function withContainers(pod: Pod, change: (container: Container) => Container): Pod {
  const { initContainers, containers = [] } = pod.spec ?? {};
  const changed = initContainers?.map((each) => (isSidecar(each) ? change(each) : each));
  return {
    ...pod,
    spec: { ...pod.spec, ...(changed ? { initContainers: changed } : {}), containers: containers.map(change) },
  };
}

/** Returns the Pod with its previously allocated resources. A restarted kubelet reads them from the Pod status. */
export function withAllocatedResources(pod: Pod): Pod {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  if (!statuses.some(({ allocatedResources }) => allocatedResources)) return pod;
  const withAllocation = (container: Container): Container => {
    const { allocatedResources, resources } = statuses.find(({ name }) => name === container.name) ?? {};
    if (!allocatedResources) return container;
    const limits = resources?.limits;
    return {
      ...container,
      resources: { ...container.resources, requests: allocatedResources, ...(limits ? { limits } : {}) },
    };
  };
  return withResourcesOf(pod, withContainers(pod, withAllocation));
}

/** Returns why the node can never provide the requested resources. */
function infeasibleReason(pod: Pod, allocatable: ResourceList): Rejection | undefined {
  const reason = 'Infeasible';
  if (isStaticPod(pod)) return { reason, message: 'In-place resize of static-pods is not supported' };
  const requests = pod.spec ? podRequests(pod.spec) : new Map();
  for (const [name, value] of [
    ['memory', quantityValue],
    ['cpu', milliValue],
  ] as const) {
    const requested = requests.get(name);
    const capacity = allocatable[name];
    if (!requested || capacity === undefined) continue;
    if (value(requested) > value(parseQuantity(capacity))) {
      const amounts = `requested: ${value(requested)}, capacity: ${value(parseQuantity(capacity))}`;
      return { reason, message: `Node didn't have enough capacity: ${name}, ${amounts}` };
    }
  }
  return undefined;
}

function deferredRejection(refusal: Rejection | undefined): Rejection | undefined {
  return refusal && { reason: 'Deferred', message: refusal.message };
}

function isSameAmount(one: ResourceRequirements, other: ResourceRequirements, name: 'cpu' | 'memory'): boolean {
  const value = name === 'cpu' ? milliValue : quantityValue;
  const amount = (quantity: string | undefined) => (quantity === undefined ? 0 : value(parseQuantity(quantity)));
  return (
    amount(one.requests?.[name]) === amount(other.requests?.[name]) &&
    amount(one.limits?.[name]) === amount(other.limits?.[name])
  );
}

/** Returns the resources that a container created before this kubelet started appears to have. */
function requirementsOf({ resources }: RuntimeContainer, container: Container): ResourceRequirements {
  if (!resources) return container.resources ?? {};
  return actualRequirements(container.resources ?? {}, undefined, { state: 'running', resources });
}

const minLimitMilli = 10;
const minRequestMilli = 2;

/**
 * Returns the actual resources of a container. The kernel rounds small amounts up; if both the request and the actual
 * amount are below that minimum, the requested amount is reported.
 */
function actualRequirements(
  allocated: ResourceRequirements,
  actuated: ResourceRequirements | undefined,
  { state, resources: actual }: Pick<RuntimeContainer, 'state' | 'resources'>,
): ResourceRequirements {
  if (state !== 'running') return allocated;
  const milli = (quantity: string | undefined) => (quantity === undefined ? 0 : milliValue(parseQuantity(quantity)));
  const text = (value: number, family: 'DecimalSI' | 'BinarySI', scale = 0) =>
    formatQuantity(quantityOf(value, family, scale));
  const limits = allocated.limits && { ...allocated.limits };
  if (limits && actual?.cpuLimitMilli !== undefined && limits.cpu !== undefined) {
    if (
      Math.max(actual.cpuLimitMilli, milli(limits.cpu)) > minLimitMilli &&
      actual.cpuLimitMilli !== milli(limits.cpu)
    ) {
      limits.cpu = text(actual.cpuLimitMilli, 'DecimalSI', -3);
    }
  }
  if (limits?.memory !== undefined && actual?.memoryLimitBytes !== undefined) {
    if (actual.memoryLimitBytes !== quantityValue(parseQuantity(limits.memory))) {
      limits.memory = text(actual.memoryLimitBytes, 'BinarySI');
    }
  }
  const requests = allocated.requests && { ...allocated.requests };
  if (requests?.cpu !== undefined && actual?.cpuRequestMilli !== undefined) {
    if (
      Math.max(actual.cpuRequestMilli, milli(requests.cpu)) > minRequestMilli &&
      actual.cpuRequestMilli !== milli(requests.cpu)
    ) {
      requests.cpu = text(actual.cpuRequestMilli, 'DecimalSI', -3);
    }
  }
  if (requests?.memory !== undefined && actuated?.requests?.memory !== undefined)
    requests.memory = actuated.requests.memory;
  return { ...allocated, ...(limits ? { limits } : {}), ...(requests ? { requests } : {}) };
}
