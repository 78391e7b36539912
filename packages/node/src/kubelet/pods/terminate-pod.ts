/** Syncs of a Pod that no longer runs: terminates its containers, releases its resources, and removes what is left. */
import { killPod } from '../containers/kill.ts';
import { logDirectoryOf, logLinkOf } from '../containers/sandbox-config.ts';
import { sandboxIdsOf } from '../runtime/read-runtime-pod.ts';
import { descriptionOf, isNotFoundError } from '../runtime/runtime-error.ts';
import { allocatedPodOf, killContextOf, type PodContext } from './pod-context.ts';
import { observePod, readRuntime } from './pod-observer.ts';

/** Kills all containers of a terminating Pod. Its readiness probes continue until then. */
export async function syncTerminatingPod(context: PodContext, signal: AbortSignal): Promise<void> {
  const { node, pod, lifecycle, dispatch, observer } = context;
  observer.probes.stopLivenessAndStartup();
  await observePod(observer);
  try {
    const { graceSeconds } = lifecycle();
    await killPod(killContextOf(context), allocatedPodOf(context), observer.runtimePod, graceSeconds, signal);
  } catch (error) {
    signal.throwIfAborted();
    node.record(pod(), 'Warning', 'FailedKillPod', `error killing pod: ${descriptionOf(error)}`);
    throw error;
  }
  observer.probes.stop();
  await readRuntime(observer);
  if (observer.runtimePod.containers.some(({ state }) => state === 'running')) {
    throw new Error('containers are still running after termination');
  }
  dispatch({ type: 'containersTerminated' });
}

/** Releases the volumes and other resources of a terminated Pod. */
export async function syncTerminatedPod({ node, uid, pod, dispatch, volumes }: PodContext): Promise<void> {
  await volumes.remove(pod());
  if (node.cgroups) await node.cgroups.remove(pod());
  node.sources.unwatchReferences(uid);
  node.tokens.remove(uid);
  dispatch({ type: 'resourcesReleased' });
}

/** Removes the sandboxes and logs of a Pod that is deleted from the API. */
export async function cleanUpPod({ node, uid, pod, dispatch, observer }: PodContext): Promise<void> {
  const { runtime, settings } = node;
  for (const id of await sandboxIdsOf(runtime, uid)) {
    await runtime.removePodSandbox({ podSandboxId: id }).catch((error: unknown) => {
      if (!isNotFoundError(error)) throw error;
    });
  }
  for (const each of observer.runtimePod.containers) await runtime.files.remove(logLinkOf(pod(), each, settings));
  await runtime.files.remove(logDirectoryOf(pod(), settings));
  dispatch({ type: 'cleanedUp' });
}
