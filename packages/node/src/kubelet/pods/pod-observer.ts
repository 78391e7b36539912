/**
 * Observed state of one Pod: its sandboxes and containers as last read from the runtime, and its probes.
 *
 * The observer is a record that only the functions of this file change: a node has thousands of Pods, and methods of
 * each would take more memory than the state.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { ContainerStarts } from '../containers/container-starts.ts';
import { fieldPathOf } from '../containers/containers.ts';
import type { NodeContext } from '../node/node-context.ts';
import type { ProbeType } from '../probes/probe-state.ts';
import { createPodProbes, hasProbes, noProbes, type PodProbes } from '../probes/probes.ts';
import { readRuntimePod, sandboxIdsOf } from '../runtime/read-runtime-pod.ts';
import { rpcTextOf } from '../runtime/runtime-error.ts';
import { addressesOf, emptyRuntimePod, type RuntimePod } from '../runtime/runtime-pod.ts';

type State = ObserverContext & {
  /** Runtime state as last read. */
  runtimePod: RuntimePod;
  /** Only the worker creates sandboxes of the Pod, so their IDs are cached. */
  sandboxIds: readonly string[] | undefined;
  probes: PodProbes;
};

/** Observer of a Pod. */
export type PodObserver = Readonly<State>;

/** Dependencies of an observer. */
export type ObserverContext = {
  readonly node: NodeContext;
  readonly uid: string;
  readonly pod: () => Pod;
  readonly starts: ContainerStarts;
  /** Called after each observation. */
  readonly onObserved: () => void;
};

/** Event to record if the runtime cannot be read. */
export type ReadFailure = { readonly reason: string; readonly what: string };

/** Creates the observer of a Pod. */
export function createPodObserver({ node, uid, pod, starts, onObserved }: ObserverContext): PodObserver {
  return { node, uid, pod, starts, onObserved, runtimePod: emptyRuntimePod, sandboxIds: undefined, probes: noProbes };
}

/** Returns the runtime state to report: a container that is being started is omitted. */
export function visibleStateOf({ starts, runtimePod }: PodObserver): RuntimePod {
  return starts.visibleState(runtimePod);
}

/** Creates the probes of the Pod, if it has any. */
export function startProbes(observer: State, onChange: (type: ProbeType) => void): void {
  const { node, pod } = observer;
  if (!hasProbes(pod())) return;
  observer.probes = createPodProbes(pod(), {
    runtime: node.runtime,
    clock: node.clock,
    random: node.random,
    metrics: node.probeMetrics,
    record: (container, type, reason, message) => node.record(pod(), type, reason, message, fieldPathOf(container)),
    onChange,
  });
}

/** Removes the probes of a Pod without running containers. */
export function removeProbes(observer: State): void {
  observer.probes = noProbes;
}

/** Reads the state of the Pod from the runtime; a failure is recorded with the given event reason. */
export async function readRuntime(observer: State, failure?: ReadFailure): Promise<void> {
  const { node, uid, pod } = observer;
  try {
    observer.sandboxIds ??= await sandboxIdsOf(node.runtime, uid);
    observer.runtimePod = await readRuntimePod(node.runtime, observer.sandboxIds, observer.runtimePod);
  } catch (error) {
    if (failure && !node.signal.aborted) {
      node.record(pod(), 'Warning', failure.reason, `${failure.what}: ${rpcTextOf(error)}`);
    }
    throw error;
  }
}

/** Reads the runtime state and updates probes and status. */
export async function observePod(observer: State): Promise<void> {
  const { node, pod, onObserved } = observer;
  await readRuntime(observer, { reason: 'FailedSync', what: 'error determining status' });
  const podIP = addressesOf(observer.runtimePod)[0] ?? node.hostIPs()[0] ?? '';
  observer.probes.observe(pod(), visibleStateOf(observer), podIP);
  onObserved();
}

/**
 * Marks the sandboxes as unknown while a sandbox is created, because an aborted creation may leave a sandbox. Returns
 * the function to call with the ID of the new sandbox.
 */
export function expectSandbox(observer: State): (id: string) => void {
  const before = observer.sandboxIds ?? [];
  observer.sandboxIds = undefined;
  return (id) => {
    observer.sandboxIds = [...before, id];
  };
}
