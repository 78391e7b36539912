/** Sync of a Pod that should run: brings its sandbox and its containers to the Pod spec. */
import type { Pod, PodStatus } from '@kruise/api/core/pod';
import { allocateResources, setResizeError } from '../admission/pod-resize.ts';
import { resizeContainers } from '../admission/resize-containers.ts';
import type { DownwardContext } from '../containers/downward-api.ts';
import { killContainer, killPod } from '../containers/kill.ts';
import { configureSandbox, createSandbox, pullSecretsOf } from '../containers/pod-sandbox.ts';
import { logLinkOf } from '../containers/sandbox-config.ts';
import { descriptionOf } from '../runtime/runtime-error.ts';
import { addressesOf, isHostNetwork } from '../runtime/runtime-pod.ts';
import type { MountedVolume } from '../volumes/volumes.ts';
import { isTerminalPhase } from './phase.ts';
import { decideActions, type PodActions } from './pod-actions.ts';
import { preparePodCgroup, settlePodCgroup } from './pod-cgroup.ts';
import { allocatedPodOf, killContextOf, type PodContext, retryLater } from './pod-context.ts';
import { expectSandbox, observePod, readRuntime } from './pod-observer.ts';
import { deadlineMessage, deadlineOf } from './pod-status.ts';
import { currentStatus, markStatusDirty } from './status-publisher.ts';

const networkRetryMs = 1000;

/** Syncs a Pod. A Pod in a terminal phase is terminated instead. */
export async function syncPod(context: PodContext, signal: AbortSignal): Promise<void> {
  const { node, uid, pod, observer, status, volumes } = context;
  allocate(context);
  await observePod(observer);
  if (!cannotBeTerminal(pod(), status.lastStatus)) {
    if (isTerminalPhase(currentStatus(status).phase)) return complete(context);
    const deadline = deadlineOf(pod(), currentStatus(status));
    if (deadline !== undefined) node.syncAt(uid, deadline);
  }

  const networkFault = isHostNetwork(pod()) ? undefined : node.networkFault();
  if (networkFault !== undefined) {
    node.record(pod(), 'Warning', 'NetworkNotReady', `network is not ready: ${networkFault}`);
    node.syncAt(uid, node.clock.now() + networkRetryMs);
    return;
  }
  if (node.cgroups && !(await preparePodCgroup(context, node.cgroups, signal))) return;
  const actions = decideActions({
    pod: allocatedPodOf(context),
    runtimePod: observer.runtimePod,
    probes: observer.probes,
    resizeActionFor: (container, running) => node.allocations.resizeActionFor(uid, container, running),
  });
  const podIPs = addressesOf(observer.runtimePod);
  const found = await volumes.ensureMounted(allocatedPodOf(context), downwardContextFor(context, podIPs));
  // Running containers have their volumes; only new containers need all volumes to be mounted.
  const mounted = found ?? (startsNothing(actions) ? volumes.mounted() : undefined);
  if (!mounted) return;
  signal.throwIfAborted();
  await applyActions(context, actions, mounted, signal);
  if (node.cgroups) await settlePodCgroup(context, node.cgroups);
}

/** Reports whether the Pod cannot be in a terminal phase: all its containers restart, and it has no deadline. */
function cannotBeTerminal({ spec, status }: Pod, lastStatus: PodStatus | undefined): boolean {
  const { restartPolicy = 'Always', activeDeadlineSeconds } = spec ?? {};
  if (!lastStatus || isTerminalPhase(lastStatus.phase) || isTerminalPhase(status?.phase)) return false;
  return restartPolicy === 'Always' && activeDeadlineSeconds == null;
}

/** Terminates a completed Pod. */
function complete({ node, pod, dispatch, status }: PodContext): void {
  if (currentStatus(status).reason === 'DeadlineExceeded') {
    node.record(pod(), 'Normal', 'DeadlineExceeded', deadlineMessage);
  }
  dispatch({ type: 'killed', pod: pod(), graceSeconds: undefined, hasVerdict: false });
}

/** Allocates the resources that the Pod requests; a deferred resize is retried. */
function allocate(context: PodContext): void {
  const { node, pod, observer, resize, starts } = context;
  const { runtimePod } = observer;
  const { isDeferred } = allocateResources(resize, { node, pod: pod(), runtimePod, starts });
  if (isDeferred) retryLater(context);
}

function downwardContextFor({ node }: PodContext, podIPs: readonly string[]): DownwardContext {
  return { podIPs, hostIPs: node.hostIPs(), allocatable: node.allocatable() };
}

function startsNothing({ ephemeral, init, regular }: PodActions): boolean {
  return ephemeral.length + init.length + regular.length === 0;
}

type MountedVolumes = ReadonlyMap<string, MountedVolume>;

async function applyActions(
  context: PodContext,
  actions: PodActions,
  volumes: MountedVolumes,
  signal: AbortSignal,
): Promise<void> {
  const { node, pod, observer, starts, status } = context;
  if (actions.createsSandbox && actions.sandboxId !== undefined) {
    node.record(pod(), 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
  }
  if (actions.killsPod) {
    await killPod(killContextOf(context), allocatedPodOf(context), observer.runtimePod, undefined, signal);
    if (!actions.createsSandbox) return observePod(observer);
  }
  for (const { target, message, reason } of actions.kills) {
    await killContainer(killContextOf(context), { pod: allocatedPodOf(context), target, message, reason }, signal);
  }
  const wanted = [...actions.ephemeral, ...actions.init, ...actions.regular];
  if (actions.kills.length > 0) await readRuntime(observer);
  await updateResources(context, actions);
  if (wanted.length === 0 && !actions.createsSandbox) return;

  const sandboxConfig = await configureSandbox(node, allocatedPodOf(context), actions.attempt);
  if (!sandboxConfig) return retryLater(context);
  let { sandboxId } = actions;
  if (actions.createsSandbox) {
    const setCreated = expectSandbox(observer);
    sandboxId = await createSandbox(node, allocatedPodOf(context), sandboxConfig, signal);
    if (sandboxId === undefined) return retryLater(context);
    setCreated(sandboxId);
    // The status is not updated yet: in most Pods the containers start right after the sandbox.
    await readRuntime(observer, { reason: 'FailedPodSandBoxStatus', what: 'Unable to get pod sandbox status' });
  }
  const podIPs = isHostNetwork(pod()) ? node.hostIPs() : addressesOf(observer.runtimePod);
  const { initContainerStatuses = [], containerStatuses = [] } = currentStatus(status);
  const startContext = {
    pod: allocatedPodOf(context),
    statuses: [...initContainerStatuses, ...containerStatuses],
    runtimePod: observer.runtimePod,
    sandboxId: sandboxId!,
    sandboxConfig,
    facts: downwardContextFor(context, podIPs),
    volumes,
    pullSecrets: await pullSecretsOf(node, pod()),
  };
  const { retryAt, hasNews } = await starts.startAll(startContext, wanted, signal);
  if (retryAt !== undefined) node.syncAt(context.uid, retryAt);
  if (hasNews) markStatusDirty(status);
  await removeDeadContainers(context);
}

async function updateResources(context: PodContext, { resizes }: PodActions): Promise<void> {
  if (resizes.length === 0) return;
  const { node, resize, observer } = context;
  try {
    await resizeContainers(node, allocatedPodOf(context), resizes);
    setResizeError(resize, undefined);
  } catch (error) {
    setResizeError(resize, descriptionOf(error));
    retryLater(context);
  }
  allocate(context);
  await observePod(observer);
}

/** Garbage-collects exited containers, keeping the newest instance of each name for debugging. */
async function removeDeadContainers({ node, pod, observer }: PodContext): Promise<void> {
  const { runtime, settings } = node;
  const kept = new Set<string>();
  for (const { id, name, state } of observer.runtimePod.containers) {
    if (state !== 'exited') continue;
    if (!kept.has(name)) {
      kept.add(name);
      continue;
    }
    await runtime.removeContainer({ containerId: id });
    await runtime.files.remove(logLinkOf(pod(), { name, id }, settings));
  }
}
