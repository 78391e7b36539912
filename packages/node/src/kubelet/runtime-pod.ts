/** What the runtime has of one Pod: its sandboxes and containers, dead ones included, newest first. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { Instant } from '@kruise/values/time';

/** A container as its runtime knows it. */
export type RuntimeContainer = {
  /** Without the runtime's name. */
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
  /** What it was made from (`containerHash`). */
  readonly hash: string;
  readonly restartCount: number;
  readonly image: string;
  readonly imageRef: string;
  readonly resources?: ActualResources;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
};

/** What a container really has, as far as its runtime tells. */
export type ActualResources = {
  readonly cpuRequestMilli?: number;
  readonly cpuLimitMilli?: number;
  readonly memoryLimitBytes?: number;
};

/** What holds the containers of a Pod together. */
export type RuntimeSandbox = {
  readonly id: string;
  readonly attempt: number;
  readonly isReady: boolean;
  readonly createdAt: Instant;
  readonly isHostNetwork: boolean;
  readonly ips: readonly string[];
};

/** Everything a runtime has of a Pod. */
export type RuntimePod = {
  readonly sandboxes: readonly RuntimeSandbox[];
  readonly containers: readonly RuntimeContainer[];
};

/** A Pod the runtime has nothing of. */
export const nothingRuns: RuntimePod = { sandboxes: [], containers: [] };

/** The newest container of a name. */
export function newestOf({ containers }: RuntimePod, name: string): RuntimeContainer | undefined {
  return containers.find((each) => each.name === name);
}

/** The addresses of a Pod: those of its newest sandbox, while it is ready. */
export function addressesOf({ sandboxes: [newest] }: RuntimePod): readonly string[] {
  return newest?.isReady ? newest.ips : [];
}

/** Whether a Pod needs another sandbox, and which number that has. */
export type SandboxChange = {
  readonly isNeeded: boolean;
  readonly attempt: number;
  /** The sandbox to go on with, or the one to be replaced. */
  readonly sandboxId: string | undefined;
};

/** Whether what the runtime has can hold the Pod's containers (cri.md §7.6). */
export function sandboxChange(pod: Pod, { sandboxes }: RuntimePod): SandboxChange {
  const [newest] = sandboxes;
  if (!newest) return { isNeeded: true, attempt: 0, sandboxId: undefined };
  const next = { isNeeded: true, attempt: newest.attempt + 1, sandboxId: newest.id };
  if (sandboxes.filter(({ isReady }) => isReady).length > 1 || !newest.isReady) return next;
  if (newest.isHostNetwork !== isHostNetwork(pod)) return { ...next, sandboxId: undefined };
  if (!newest.isHostNetwork && newest.ips.length === 0) return next;
  return { isNeeded: false, attempt: newest.attempt, sandboxId: newest.id };
}

/** Whether a Pod shares the network of its node. */
export function isHostNetwork({ spec }: Pod): boolean {
  return spec?.hostNetwork ?? false;
}

/** Whether a regular or ephemeral container that is not running is to be started. */
export function shouldStart({ name }: Container, pod: Pod, runtimePod: RuntimePod): boolean {
  if (pod.metadata.deletionTimestamp != null) return false;
  const newest = newestOf(runtimePod, name);
  if (!newest) return true;
  switch (newest.state) {
    case 'running':
      return false;
    // What is created but not started failed to start; what is unknown may be gone.
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

/** Whether a container that fails is started again. */
export function restartsOnFailure({ spec }: Pod): boolean {
  return spec?.restartPolicy !== 'Never';
}

/** Whether a regular container runs or is about to, so that initialization must be over. */
export function hasActiveRegularContainer({ spec }: Pod, runtimePod: RuntimePod): boolean {
  return (spec?.containers ?? []).some(({ name }) => {
    const state = newestOf(runtimePod, name)?.state;
    return state === 'created' || state === 'running';
  });
}

/** Whether a regular container was ever made in the sandbox that stands now. */
export function hasInitialized({ spec }: Pod, { sandboxes: [newest], containers }: RuntimePod): boolean {
  if (!newest?.isReady) return false;
  const regular = new Set((spec?.containers ?? []).map(({ name }) => name));
  return containers.some(({ name, sandboxId }) => sandboxId === newest.id && regular.has(name));
}
