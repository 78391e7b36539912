/** Progress of each container of a request, derived from the runtime and the Pod status. */
import type {
  ContainerRecreateRequest,
  ContainerRecreateRequestStatus,
} from '@kruise/api/kruise/containerrecreaterequest';
import { errorText } from '@kruise/values/error-text';
import type { Instant } from '@kruise/values/time';

export type State = NonNullable<ContainerRecreateRequestStatus['containerRecreateStates']>[number];

/** A container in the runtime: the newest one of its name. */
export type Found = {
  readonly id: string;
  readonly podSandboxId: string;
  readonly isExited: boolean;
  readonly startedAt: Instant;
  readonly restartCount: number;
};

export type FoundContainers = ReadonlyMap<string, Found>;

export function statesOf(request: ContainerRecreateRequest, found: FoundContainers, now: Instant): readonly State[] {
  return request.spec.containers.map(({ name }) => stateOf(request, name, found.get(name), now));
}

function stateOf(
  { spec, status }: ContainerRecreateRequest,
  name: string,
  found: Found | undefined,
  now: Instant,
): State {
  const before = status?.containerRecreateStates?.find((each) => each.name === name);
  if (before?.phase === 'Succeeded' || before?.phase === 'Failed') return before;
  const killed = before?.isKilled ? { isKilled: true } : {};
  if (!found) return { name, phase: 'Pending', message: 'not found container on Node', ...killed };
  if (found.isExited) return { name, phase: 'Recreating', ...killed };
  const { strategy = {}, containers } = spec;
  if (strategy.forceRecreate && !before?.isKilled) return { name, phase: 'Pending' };
  const { containerID = '', restartCount = 0 } = containers.find((each) => each.name === name)?.statusContext ?? {};
  const isNew = idOf(containerID) !== found.id || found.restartCount > restartCount;
  if (!isNew) return { name, phase: 'Pending', ...killed };
  const seen = status?.containerStatusSnapshot?.find((each) => each.name === name);
  const isReady = seen?.ready === true && idOf(seen.containerID ?? '') === found.id;
  const hasLasted = now - found.startedAt > (strategy.minStartedSeconds ?? 0) * 1000;
  return { name, phase: isReady && hasLasted ? 'Succeeded' : 'Recreating', ...killed };
}

/** Returns the states after a container was stopped, or failed to stop. */
export function afterStop(states: readonly State[], name: string, error?: unknown): readonly State[] {
  const why = errorText(error);
  const outcome: State =
    error === undefined
      ? { name, phase: 'Recreating', isKilled: true }
      : { name, phase: 'Failed', message: `kill container error: ${why}` };
  return states.map((state) => (state.name === name ? outcome : state));
}

/** Returns the runtime's ID of a container with an ID such as `containerd://…` in the Pod status. */
export function idOf(containerID: string): string {
  return containerID.slice(containerID.indexOf('://') + 3);
}

/** Returns the runtime name in a container ID; empty if it has none. */
export function runtimeNameOf(containerID: string): string {
  return containerID.slice(0, Math.max(0, containerID.indexOf('://')));
}
