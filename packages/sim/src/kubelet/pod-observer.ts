/** Observes Pods in the API and in the runtime, and records every state that moves backwards. */
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import type { NodeRuntime } from '@kruise/node/cri/runtime';

export type PodObserver = {
  readonly faults: readonly string[];
  /** Number of observed updates. */
  count(): number;
  /** Number of starts of a container of a Pod. */
  starts(pod: Pod, container: string): number;
  /** Records an observed version of a Pod. */
  observe(pod: Pod): void;
};

const phases = ['Pending', 'Running', 'Succeeded', 'Failed'];

/** Observes the containers of a runtime, and the Pod versions that it is given. */
export function observePods(runtime: NodeRuntime, signal: AbortSignal): PodObserver {
  const faults: string[] = [];
  const last = new Map<string, Pod>();
  let count = 0;
  const attempts = new Set<string>();
  void followStarts(runtime, attempts, (fault) => faults.push(fault), signal);
  return {
    faults,
    count: () => count,
    starts({ metadata }, container) {
      const of = `${metadata.name}/${metadata.uid}/${container}/`;
      return [...attempts].filter((attempt) => attempt.startsWith(of)).length;
    },
    observe(pod) {
      count++;
      const uid = pod.metadata.uid ?? '';
      const before = last.get(uid);
      last.set(uid, pod);
      for (const fault of [...podErrors(pod), ...(before ? regressions(before, pod) : [])]) {
        faults.push(`${pod.metadata.name}: ${fault}`);
      }
    },
  };
}

/** Checks that no attempt starts twice and that no two containers of one name run at once. */
async function followStarts(
  runtime: NodeRuntime,
  started: Set<string>,
  report: (fault: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const running = new Map<string, string>();
  for await (const event of runtime.getContainerEvents({}, { signal })) {
    const { containerId, containerEventType, podSandboxStatus, containersStatuses } = event;
    const status = containersStatuses.find(({ id }) => id === containerId);
    if (containerEventType === 'CONTAINER_STOPPED_EVENT' || containerEventType === 'CONTAINER_DELETED_EVENT') {
      for (const [name, id] of running) if (id === containerId) running.delete(name);
    }
    if (!status || containerEventType !== 'CONTAINER_STARTED_EVENT') continue;
    const name = `${podSandboxStatus?.metadata.name}/${podSandboxStatus?.metadata.uid}/${status.metadata.name}`;
    const attempt = `${name}/${status.metadata.attempt}`;
    if (started.has(attempt)) report(`${attempt} was started twice`);
    if (running.has(name)) report(`${name} runs twice`);
    started.add(attempt);
    running.set(name, containerId);
  }
}

function* podErrors(pod: Pod): Generator<string> {
  if (isOver(pod) && isPodReady(pod)) yield 'the Pod is finished and ready';
}

function* regressions(before: Pod, after: Pod): Generator<string> {
  const [was, is] = [before.status?.phase ?? 'Pending', after.status?.phase ?? 'Pending'];
  if (isOver(before) ? was !== is : phases.indexOf(is) < phases.indexOf(was)) yield `the phase was ${was} and is ${is}`;
  const { startTime } = before.status ?? {};
  if (startTime && startTime !== after.status?.startTime) yield 'startTime changed';
  for (const status of statusesOf(after)) {
    const earlier = statusesOf(before).find(({ name }) => name === status.name);
    if (earlier) for (const fault of containerRegressions(after, earlier, status)) yield `${status.name} ${fault}`;
  }
}

function* containerRegressions(pod: Pod, before: ContainerStatus, after: ContainerStatus): Generator<string> {
  if (after.restartCount < before.restartCount) {
    yield `had restartCount ${before.restartCount} and has ${after.restartCount}`;
  }
  const isSame = before.containerID === after.containerID;
  const hasAdvanced = after.restartCount > before.restartCount;
  if (before.containerID && !isSame && after.containerID && !hasAdvanced)
    yield 'has another containerID without a restart';
  if (!isSame || pod.metadata.deletionTimestamp != null) return;
  if (before.state?.terminated && after.state?.running) yield 'was terminated and runs again';
  // A container that waits for its restart has reported its termination in lastState.
  const hasEnded = after.lastState?.terminated?.containerID === after.containerID;
  if (before.state?.running && after.state?.waiting && !hasEnded)
    yield `was running and is waiting: ${after.state.waiting.reason}`;
  // All probes of these Pods succeed, so a running container never becomes unready.
  if (before.started && after.state?.running && !after.started) yield 'was started and is not';
  if (before.ready && after.state?.running && !after.ready) yield 'was ready and is not';
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
