/** The status of each container as the API shows it, from what the runtime has (kubelet.md §2.3). */
import type { Container } from '@kruise/api/core/container';
import type { ContainerState, ContainerStatus, Pod, VolumeMountStatus } from '@kruise/api/core/pod';
import { formatTime } from '@kruise/values/time';
import { type ContainerRole, containersOf, type PodContainer } from './containers.ts';
import { newestOf, type RuntimeContainer, type RuntimePod, shouldStart } from './runtime-pod.ts';

/** Why a container could not be started: the waiting reason, and what is said of it. */
export type StartFailure = { readonly reason: string; readonly message: string };

/** What probes say of a container that runs. */
export type ProbeVerdicts = {
  /** Whether it has come up: its startup probe has succeeded, or it has none. */
  hasStarted(containerName: string, containerId: string): boolean;
  /** Whether its readiness probe has succeeded, or it has none. */
  isReady(containerName: string, containerId: string): boolean;
};

/** What statuses are made from. */
export type StatusFacts = {
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  /** What was said before. */
  readonly previous: readonly ContainerStatus[];
  readonly failures: ReadonlyMap<string, StartFailure>;
  readonly probes: ProbeVerdicts;
  /** The scheme of container IDs. */
  readonly runtimeName: string;
  /** What a container has now; undefined where nothing is said of resources. */
  readonly resourcesOf: (
    container: Container,
    found: RuntimeContainer,
  ) => Pick<ContainerStatus, 'resources' | 'allocatedResources'>;
};

/** Statuses by what containers are for, in the order the API lists them in. */
export type ContainerStatuses = {
  readonly init: readonly ContainerStatus[];
  readonly regular: readonly ContainerStatus[];
  readonly ephemeral: readonly ContainerStatus[];
};

const byName = (a: ContainerStatus, b: ContainerStatus) => (a.name < b.name ? -1 : 1);

/** How every container of a Pod is. */
export function containerStatusesOf(facts: StatusFacts): ContainerStatuses {
  const init: ContainerStatus[] = [];
  const regular: ContainerStatus[] = [];
  const ephemeral: ContainerStatus[] = [];
  const lists = { init, sidecar: init, regular, ephemeral };
  for (const each of containersOf(facts.pod)) lists[each.role].push(statusOf(facts, each));
  if (regular.length > 1) regular.sort(byName);
  if (ephemeral.length > 1) ephemeral.sort(byName);
  return { init, regular, ephemeral };
}

function statusOf(facts: StatusFacts, podContainer: PodContainer): ContainerStatus {
  const { container, role } = podContainer;
  const previous = facts.previous.find(({ name }) => name === container.name);
  const newest = newestOf(facts.runtimePod, container.name);
  // One that was made and never started has nothing to tell.
  const older = facts.runtimePod.containers.find(
    (each) => each !== newest && each.name === container.name && each.state !== 'created',
  );
  const known = newest ? fromRuntime(facts, container, newest, previous) : fromNothing(facts.pod, container, previous);
  // Of two that the runtime still has, the older one tells how it went last time.
  const status = older ? { ...known, lastState: stateOf(older, facts.runtimeName, undefined) } : known;
  if (previous && hasEndedForGood(facts.pod, role, previous) && isSameContainer(previous, status)) return previous;
  return withProbes(facts, role, waitingIfFailed(facts, podContainer, status));
}

/** What ran to its end in a Pod that does not run it again is over, whatever a runtime comes to think of it later. */
function hasEndedForGood({ spec }: Pod, role: ContainerRole, { state }: ContainerStatus): boolean {
  const { terminated } = state ?? {};
  if (!terminated || role === 'sidecar') return false;
  return spec?.restartPolicy === 'Never' || (spec?.restartPolicy === 'OnFailure' && terminated.exitCode === 0);
}

function isSameContainer({ containerID }: ContainerStatus, other: ContainerStatus): boolean {
  return containerID !== undefined && containerID === other.containerID;
}

function fromRuntime(
  { runtimeName, resourcesOf }: StatusFacts,
  container: Container,
  found: RuntimeContainer,
  previous: ContainerStatus | undefined,
): ContainerStatus {
  const isLost = found.state === 'unknown' && previous?.state?.running != null;
  const { user } = found;
  return {
    ...resourcesOf(container, found),
    name: container.name,
    state: stateOf(found, runtimeName, previous),
    lastState: {},
    ready: false,
    restartCount: isLost ? previous.restartCount + 1 : found.restartCount,
    image: found.image,
    imageID: found.imageRef,
    containerID: idOf(found, runtimeName),
    ...mountsOf(container),
    ...(user
      ? {
          user: {
            linux: {
              uid: user.uid,
              gid: user.gid,
              ...(user.supplementalGroups.length === 0 ? {} : { supplementalGroups: [...user.supplementalGroups] }),
            },
          },
        }
      : {}),
  };
}

/** How a container is that the runtime has nothing of: not made yet, or lost. */
function fromNothing(pod: Pod, container: Container, previous: ContainerStatus | undefined): ContainerStatus {
  if (previous?.state?.terminated) return previous;
  const wasRunning = previous?.state?.running != null && previous.lastState?.terminated == null;
  const isDeleting = pod.metadata.deletionTimestamp != null;
  return {
    name: container.name,
    state: {
      waiting: { reason: (pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating' },
    },
    lastState: wasRunning ? { terminated: lost } : (previous?.lastState ?? {}),
    ready: false,
    restartCount: (previous?.restartCount ?? 0) + (wasRunning && !isDeleting ? 1 : 0),
    image: container.image ?? '',
    imageID: '',
    ...mountsOf(container),
  };
}

/** How often a container will have been started again, when it next is, as far as its status tells. */
export function nextRestartCount({ state, lastState, restartCount }: ContainerStatus): number {
  const last = state?.terminated ?? lastState?.terminated;
  // One of which nothing but its loss is known is counted already.
  const isCounted = !last || (!state?.terminated && !last.containerID);
  return isCounted ? restartCount : restartCount + 1;
}

const lost = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was deleted.  The container used to be Running',
};

/** How a container ended of which nothing is known any more. */
export const unknownEnd = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
};

function idOf({ id }: RuntimeContainer, runtimeName: string): string {
  return `${runtimeName}://${id}`;
}

function stateOf(found: RuntimeContainer, runtimeName: string, previous: ContainerStatus | undefined): ContainerState {
  switch (found.state) {
    case 'running':
      return { running: { startedAt: formatTime(found.startedAt) } };
    case 'exited':
      return {
        terminated: {
          exitCode: found.exitCode,
          ...(found.reason === '' ? {} : { reason: found.reason }),
          ...(found.message === '' ? {} : { message: found.message }),
          startedAt: formatTime(found.startedAt),
          finishedAt: formatTime(found.finishedAt),
          containerID: idOf(found, runtimeName),
        },
      };
    case 'unknown':
      // It ran, and does so no more: to call it waiting would have it run twice where it may only once.
      return previous?.state?.running ? { terminated: unknownEnd } : { waiting: {} };
    case 'created':
      return { waiting: {} };
  }
}

/** What stands between a container and its start is more to the point than how it ended. */
function waitingIfFailed(
  { pod, runtimePod, failures }: StatusFacts,
  { container, role }: PodContainer,
  status: ContainerStatus,
): ContainerStatus {
  const failure = failures.get(container.name);
  if (!failure) return status;
  const newest = newestOf(runtimePod, container.name);
  if (role !== 'regular' && role !== 'ephemeral' && newest?.state === 'exited' && newest.exitCode === 0) return status;
  if (!willStart(pod, role, container, runtimePod)) return status;
  const waiting = { reason: failure.reason, ...(failure.message === '' ? {} : { message: failure.message }) };
  return {
    ...status,
    ...(status.state?.terminated ? { lastState: status.state } : {}),
    state: { waiting },
  };
}

function willStart(pod: Pod, role: ContainerRole, container: Container, runtimePod: RuntimePod): boolean {
  if (role !== 'sidecar') return shouldStart(container, pod, runtimePod);
  return pod.metadata.deletionTimestamp == null && newestOf(runtimePod, container.name)?.state !== 'running';
}

function withProbes({ probes }: StatusFacts, role: ContainerRole, status: ContainerStatus): ContainerStatus {
  if (role === 'ephemeral') return status;
  const id = status.containerID?.slice(status.containerID.indexOf('//') + 2) ?? '';
  const isRunning = status.state?.running != null;
  const started = isRunning && probes.hasStarted(status.name, id);
  const ready =
    role === 'init'
      ? status.state?.terminated?.exitCode === 0
      : isRunning && started && probes.isReady(status.name, id);
  return { ...status, started, ready };
}

function mountsOf({ volumeMounts }: Container): { readonly volumeMounts?: VolumeMountStatus[] } {
  if (!volumeMounts || volumeMounts.length === 0) return {};
  return {
    volumeMounts: volumeMounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
      name,
      mountPath,
      ...(readOnly
        ? { readOnly, recursiveReadOnly: (recursiveReadOnly ?? 'Disabled') === 'Disabled' ? 'Disabled' : 'Enabled' }
        : {}),
    })),
  };
}
