/** Runtime state of one Pod: its sandboxes and containers, including dead ones, newest first. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { Instant } from '@kruise/values/time';

/** A container in the runtime. */
export type RuntimeContainer = {
  /** Container ID without the runtime scheme. */
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly createdAt: Instant;
  readonly startedAt: Instant;
  readonly finishedAt: Instant;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** Hash of the container spec (`containerHash`). */
  readonly hash: string;
  readonly restartCount: number;
  readonly image: string;
  readonly imageRef: string;
  readonly resources?: ActualResources;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
};

/** Actual resources of a container, as the runtime reports them. */
export type ActualResources = {
  readonly cpuRequestMilli?: number;
  readonly cpuLimitMilli?: number;
  readonly memoryLimitBytes?: number;
};

/** A Pod sandbox. */
export type RuntimeSandbox = {
  readonly id: string;
  readonly attempt: number;
  readonly isReady: boolean;
  readonly createdAt: Instant;
  readonly isHostNetwork: boolean;
  readonly ips: readonly string[];
};

/** All sandboxes and containers of a Pod. */
export type RuntimePod = {
  readonly sandboxes: readonly RuntimeSandbox[];
  readonly containers: readonly RuntimeContainer[];
};

/** Runtime state of a Pod without sandboxes. */
export const emptyRuntimePod: RuntimePod = { sandboxes: [], containers: [] };

/** Returns the newest container with a name. */
export function newestOf({ containers }: RuntimePod, name: string): RuntimeContainer | undefined {
  return containers.find((each) => each.name === name);
}

/** Returns the Pod IPs: those of the newest sandbox while it is ready. */
export function addressesOf({ sandboxes: [newest] }: RuntimePod): readonly string[] {
  return newest?.isReady ? newest.ips : [];
}

/** Sandbox decision of one sync. */
export type SandboxChange = {
  readonly isNeeded: boolean;
  readonly attempt: number;
  /** The current sandbox, or the one to replace. */
  readonly sandboxId: string | undefined;
};

/** Decides whether a Pod needs a new sandbox, and with which attempt number. */
export function sandboxChange(pod: Pod, { sandboxes }: RuntimePod): SandboxChange {
  const [newest] = sandboxes;
  if (!newest) return { isNeeded: true, attempt: 0, sandboxId: undefined };
  const next = { isNeeded: true, attempt: newest.attempt + 1, sandboxId: newest.id };
  if (sandboxes.filter(({ isReady }) => isReady).length > 1 || !newest.isReady) return next;
  if (newest.isHostNetwork !== isHostNetwork(pod)) return { ...next, sandboxId: undefined };
  if (!newest.isHostNetwork && newest.ips.length === 0) return next;
  return { isNeeded: false, attempt: newest.attempt, sandboxId: newest.id };
}

/** Reports whether a Pod uses the host network. */
export function isHostNetwork({ spec }: Pod): boolean {
  return spec?.hostNetwork ?? false;
}

/** Reports whether a regular or ephemeral container that is not running should start. */
export function shouldStart({ name }: Container, pod: Pod, runtimePod: RuntimePod): boolean {
  if (pod.metadata.deletionTimestamp != null) return false;
  const newest = newestOf(runtimePod, name);
  if (!newest) return true;
  switch (newest.state) {
    case 'running':
      return false;
    // A created container failed to start; a container in unknown state may be lost.
    case 'created':
    case 'unknown':
      return true;
    case 'exited':
      return restartsAfter(pod, newest.exitCode);
  }
}

function restartsAfter({ spec }: Pod, exitCode: number): boolean {
  if (spec?.restartPolicy === 'Never') return false;
  return spec?.restartPolicy !== 'OnFailure' || exitCode !== 0;
}

/** Reports whether a failed container restarts. */
export function restartsOnFailure({ spec }: Pod): boolean {
  return spec?.restartPolicy !== 'Never';
}

/** Reports whether a regular container runs or is about to run, which means that initialization is complete. */
export function hasActiveRegularContainer({ spec }: Pod, runtimePod: RuntimePod): boolean {
  return (spec?.containers ?? []).some(({ name }) => {
    const state = newestOf(runtimePod, name)?.state;
    return state === 'created' || state === 'running';
  });
}

/** Reports whether a regular container was ever created in the current sandbox. */
export function hasInitialized({ spec }: Pod, { sandboxes: [newest], containers }: RuntimePod): boolean {
  if (!newest?.isReady) return false;
  const regular = new Set((spec?.containers ?? []).map(({ name }) => name));
  return containers.some(({ name, sandboxId }) => sandboxId === newest.id && regular.has(name));
}
