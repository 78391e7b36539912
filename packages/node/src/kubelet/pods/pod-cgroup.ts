/** The cgroup of one Pod during its syncs: it exists before the sandbox, grows before its containers, shrinks after. */
import { killPod } from '../containers/kill.ts';
import type { PodCgroups } from '../resources/pod-cgroups.ts';
import { descriptionOf } from '../runtime/runtime-error.ts';
import { allocatedPodOf, killContextOf, type PodContext, retryLater } from './pod-context.ts';
import { observePod } from './pod-observer.ts';

/**
 * Creates the cgroup of a Pod, or raises its limits. Returns false and records an event on failure. Containers outside
 * of the cgroup of their Pod are killed first: nothing would limit them.
 */
export async function preparePodCgroup(
  context: PodContext,
  cgroups: PodCgroups,
  signal: AbortSignal,
): Promise<boolean> {
  const { node, pod, observer } = context;
  const allocated = allocatedPodOf(context);
  try {
    const hasRunning = observer.runtimePod.containers.some(({ state }) => state === 'running');
    if (hasRunning && !(await cgroups.exists(allocated))) {
      await killPod(killContextOf(context), allocated, observer.runtimePod, undefined, signal);
      await observePod(observer);
    }
    await cgroups.prepare(allocated);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    const message = `unable to ensure pod container exists: ${descriptionOf(error)}`;
    node.record(pod(), 'Warning', 'FailedCreatePodContainer', message);
    retryLater(context);
    return false;
  }
}

/** Lowers the limits of a Pod to its allocated resources, once its containers have them. */
export async function settlePodCgroup(context: PodContext, cgroups: PodCgroups): Promise<void> {
  const { node, uid, resize } = context;
  if (resize.lastError !== undefined) return;
  try {
    await cgroups.settle(allocatedPodOf(context));
  } catch (error) {
    // The kernel refuses a memory limit below the usage. The containers have their limits already.
    node.log.warn({ pod: uid, error }, 'failed to lower the limits of a pod cgroup');
    retryLater(context);
  }
}
