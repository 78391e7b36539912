/** Container statuses of a Pod, derived from the state of the runtime. */
import type { Container } from '@kruise/api/core/container';
import type { ContainerState, ContainerStatus, Pod, VolumeMountStatus } from '@kruise/api/core/pod';
import { formatTime } from '@kruise/values/time';
import { type ContainerRole, containersOf, type PodContainer } from '../containers/containers.ts';
import { newestOf, type RuntimeContainer, type RuntimePod, shouldStart } from '../runtime/runtime-pod.ts';

/** Start failure of a container: the reason and message of its waiting state. */
export type StartFailure = { readonly reason: string; readonly message: string };

/** Probe results of running containers. */
export type ProbeResults = {
  /** Reports whether the container has started: its startup probe has succeeded, or it has none. */
  hasStarted(containerName: string, containerId: string): boolean;
  /** Reports whether the container is ready: its readiness probe has succeeded, or it has none. */
  isReady(containerName: string, containerId: string): boolean;
};

/** Inputs of container statuses. */
export type StatusInputs = {
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  /** Container statuses that were reported last. */
  readonly previous: readonly ContainerStatus[];
  readonly failures: ReadonlyMap<string, StartFailure>;
  readonly probes: ProbeResults;
  /** Runtime name, the scheme of container IDs. */
  readonly runtimeName: string;
  /** True if the runtime mounts recursively read-only where a container asks for it. */
  readonly supportsRecursiveReadOnly: boolean;
  /** Returns the resources to report for a container; empty if resources are not reported. */
  readonly resourcesOf: (
    container: Container,
    found: RuntimeContainer,
  ) => Pick<ContainerStatus, 'resources' | 'allocatedResources'>;
};

/** Container statuses by role, in the order of the API. */
export type ContainerStatuses = {
  readonly init: readonly ContainerStatus[];
  readonly regular: readonly ContainerStatus[];
  readonly ephemeral: readonly ContainerStatus[];
};

const byName = (a: ContainerStatus, b: ContainerStatus) => (a.name < b.name ? -1 : 1);

/** Returns the status of every container of a Pod. */
export function containerStatusesOf(inputs: StatusInputs): ContainerStatuses {
  const init: ContainerStatus[] = [];
  const regular: ContainerStatus[] = [];
  const ephemeral: ContainerStatus[] = [];
  const lists = { init, sidecar: init, regular, ephemeral };
  for (const each of containersOf(inputs.pod)) lists[each.role].push(statusOf(inputs, each));
  if (regular.length > 1) regular.sort(byName);
  if (ephemeral.length > 1) ephemeral.sort(byName);
  return { init, regular, ephemeral };
}

function statusOf(inputs: StatusInputs, podContainer: PodContainer): ContainerStatus {
  const { container, role } = podContainer;
  const previous = inputs.previous.find(({ name }) => name === container.name);
  const newest = newestOf(inputs.runtimePod, container.name);
  // A container that was created but never started has no last state.
  const older = inputs.runtimePod.containers.find(
    (each) => each !== newest && each.name === container.name && each.state !== 'created',
  );
  const known = newest
    ? statusOfFound(inputs, container, newest, previous)
    : statusOfMissing(inputs, container, previous);
  // If the runtime has two instances of a container, the older one becomes the last state.
  const status = older ? { ...known, lastState: stateOf(older, inputs.runtimeName, undefined) } : known;
  if (previous && isFinal(inputs.pod, role, previous) && isSameContainer(previous, status)) return previous;
  return withProbes(inputs, role, waitingIfFailed(inputs, podContainer, status));
}

/**
 * Reports whether a container has terminated and will not restart. Its status is final, whatever the runtime reports
 * later.
 */
function isFinal({ spec }: Pod, role: ContainerRole, { state }: ContainerStatus): boolean {
  const { terminated } = state ?? {};
  if (!terminated || role === 'sidecar') return false;
  return spec?.restartPolicy === 'Never' || (spec?.restartPolicy === 'OnFailure' && terminated.exitCode === 0);
}

function isSameContainer({ containerID }: ContainerStatus, other: ContainerStatus): boolean {
  return containerID !== undefined && containerID === other.containerID;
}

function statusOfFound(
  { runtimeName, resourcesOf, supportsRecursiveReadOnly }: StatusInputs,
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
    ...mountsOf(container, supportsRecursiveReadOnly),
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

/** Returns the status of a container that the runtime does not have: not created yet, or lost. */
function statusOfMissing(
  { pod, supportsRecursiveReadOnly }: StatusInputs,
  container: Container,
  previous: ContainerStatus | undefined,
): ContainerStatus {
  if (previous?.state?.terminated) return previous;
  const wasRunning = previous?.state?.running != null && previous.lastState?.terminated == null;
  const isDeleting = pod.metadata.deletionTimestamp != null;
  return {
    name: container.name,
    state: {
      waiting: { reason: (pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating' },
    },
    lastState: wasRunning ? { terminated: lostTermination } : (previous?.lastState ?? {}),
    ready: false,
    restartCount: (previous?.restartCount ?? 0) + (wasRunning && !isDeleting ? 1 : 0),
    image: container.image ?? '',
    imageID: '',
    ...mountsOf(container, supportsRecursiveReadOnly),
  };
}

/** Returns the restart count of the next instance of a container, according to its status. */
export function nextRestartCount({ state, lastState, restartCount }: ContainerStatus): number {
  const last = state?.terminated ?? lastState?.terminated;
  // The restart count already includes a lost container.
  const isCounted = !last || (!state?.terminated && !last.containerID);
  return isCounted ? restartCount : restartCount + 1;
}

const lostTermination = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was deleted.  The container used to be Running',
};

/** Terminated state of a container whose exit is unknown. */
export const unknownTermination = {
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
      // The container was running before. Reporting it as waiting could start it twice, even if it may run only once.
      return previous?.state?.running ? { terminated: unknownTermination } : { waiting: {} };
    case 'created':
      return { waiting: {} };
  }
}

/** Sets the waiting state of a container that failed to start; the failure replaces the previous terminated state. */
function waitingIfFailed(
  { pod, runtimePod, failures }: StatusInputs,
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

function withProbes({ probes }: StatusInputs, role: ContainerRole, status: ContainerStatus): ContainerStatus {
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

/** Returns the mounts of a container. A mode that the runtime does not have is reported as disabled. */
function mountsOf(
  { volumeMounts }: Container,
  supportsRecursion: boolean,
): { readonly volumeMounts?: VolumeMountStatus[] } {
  if (!volumeMounts || volumeMounts.length === 0) return {};
  const isRecursive = (mode: string | null | undefined) => supportsRecursion && (mode ?? 'Disabled') !== 'Disabled';
  return {
    volumeMounts: volumeMounts.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
      name,
      mountPath,
      ...(readOnly ? { readOnly, recursiveReadOnly: isRecursive(recursiveReadOnly) ? 'Enabled' : 'Disabled' } : {}),
    })),
  };
}
