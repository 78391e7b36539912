/**
 * In-place resize of one Pod: its allocated resources, and the conditions that report the progress of a resize.
 *
 * The resize is a record that only the functions of this file change: a node has thousands of Pods, and methods of each
 * would take more memory than the state.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { ContainerStarts } from '../containers/container-starts.ts';
import { containersOf } from '../containers/containers.ts';
import type { NodeContext } from '../node/node-context.ts';
import type { ConditionValue } from '../pods/pod-conditions.ts';
import { newestOf, type RuntimePod } from '../runtime/runtime-pod.ts';

type State = {
  /** Pod spec with the allocated resources. */
  allocatedSpec: Pod['spec'];
  /** Conditions to report. */
  conditions: readonly ConditionValue[];
  /** Error of the last attempt to resize containers. */
  lastError: string | undefined;
};

/** In-place resize of a Pod. */
export type PodResize = Readonly<State>;

const noConditions: readonly ConditionValue[] = [];

/** Creates the resize state of a Pod, which has the resources of its spec. */
export function createPodResize({ spec }: Pod): PodResize {
  return { allocatedSpec: spec, conditions: noConditions, lastError: undefined };
}

/** Returns a Pod with its allocated resources. */
export function withAllocatedSpec({ allocatedSpec }: PodResize, pod: Pod): Pod {
  return allocatedSpec === pod.spec || !allocatedSpec ? pod : { ...pod, spec: allocatedSpec };
}

/** Inputs of an allocation. */
export type AllocationInputs = {
  readonly node: NodeContext;
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  readonly starts: ContainerStarts;
};

/** Allocates the resources that the Pod requests; returns whether the resize is deferred. */
export function allocateResources(
  resize: State,
  { node, pod, runtimePod, starts }: AllocationInputs,
): { readonly isDeferred: boolean } {
  const uid = pod.metadata.uid ?? '';
  const { allocations } = node;
  const resized = allocations.resize(pod, { allocatable: node.allocatable(), admits: node.findRejectionFor });
  const { pending, changed } = resized;
  resize.allocatedSpec = resized.pod.spec;
  const containers = containersOf(withAllocatedSpec(resize, pod)).map(({ container }) => container);
  for (const container of containers) if (changed.includes(container.name)) starts.resetBackOff(container);
  const isResizing = containers.some((container) => {
    const newest = newestOf(runtimePod, container.name);
    return newest?.state === 'running' && allocations.resizeActionFor(uid, container, newest) !== 'none';
  });
  resize.conditions = conditionsOf(pending, isResizing, resize.lastError);
  return { isDeferred: pending?.reason === 'Deferred' };
}

function conditionsOf(
  pending: ConditionValue | undefined,
  isResizing: boolean,
  lastError: string | undefined,
): readonly ConditionValue[] {
  if (!pending && !isResizing) return noConditions;
  const error = lastError === undefined ? {} : { reason: 'Error', message: lastError };
  const inProgress: ConditionValue = { type: 'PodResizeInProgress', status: 'True', ...error };
  return [...(pending ? [pending] : []), ...(isResizing ? [inProgress] : [])];
}

/** Records the error of an attempt to resize containers; undefined if the attempt succeeded. */
export function setResizeError(resize: State, error: string | undefined): void {
  resize.lastError = error;
}
