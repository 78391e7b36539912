/** The phase of a Pod as its containers' statuses make it (kubelet.md §2.1). */
import type { ContainerStatus, Pod, PodStatus } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';

/** How far a Pod is. */
export type Phase = NonNullable<PodStatus['phase']>;

/** What the phase depends on besides the Pod's own spec. */
export type PhaseFacts = {
  /** Statuses of init and regular containers. */
  readonly statuses: readonly ContainerStatus[];
  /** Whether the Pod is being stopped for good. */
  readonly isEnding: boolean;
  /** Whether a regular container runs or is about to. */
  readonly hasInitialized: boolean;
  /** Static Pods have no say in the API on whether they are over. */
  readonly isStatic: boolean;
};

/** Whether a phase is one that is never left. */
export function isFinal(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** The phase a Pod is in. */
export function phaseOf({ spec }: Pod, { statuses, isEnding, hasInitialized, isStatic }: PhaseFacts): Phase {
  const statusOf = (name: string) => statuses.find((status) => status.name === name);
  const policy = spec?.restartPolicy ?? 'Always';
  const init = { pending: 0, failed: 0 };
  const sidecars = { pending: 0 };
  const count = { unknown: 0, running: 0, waiting: 0, stopped: 0, succeeded: 0 };

  for (const container of spec?.initContainers ?? []) {
    const status = statusOf(container.name);
    if (isSidecar(container)) countSidecar(status, sidecars, count);
    else countInit(status, init);
  }
  for (const { name } of spec?.containers ?? []) countRegular(statusOf(name), count);

  if (init.failed > 0 && policy === 'Never') return 'Failed';
  if (init.pending > 0 || (sidecars.pending > 0 && !hasInitialized) || count.waiting > 0) return 'Pending';
  if (count.unknown > 0) return 'Pending';
  if (count.running > 0) return 'Running';
  if (count.stopped === 0) return 'Pending';
  const outcome = count.stopped === count.succeeded ? 'Succeeded' : 'Failed';
  if (isEnding && !isStatic) return outcome;
  if (policy === 'Always') return 'Running';
  return outcome === 'Failed' && policy !== 'Never' ? 'Running' : outcome;
}

function countInit(status: ContainerStatus | undefined, init: { pending: number; failed: number }): void {
  const ended = status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
  if (!ended) init.pending++;
  else if (ended.exitCode !== 0) init.failed++;
}

type Counts = { unknown: number; running: number; waiting: number };

/** How sidecars end is nobody's concern: only those that have never come up hold a Pod back. */
function countSidecar(status: ContainerStatus | undefined, sidecars: { pending: number }, count: Counts): void {
  const { waiting, running, terminated } = status?.state ?? {};
  if (running) {
    if (!status?.started) sidecars.pending++;
    count.running++;
  } else if (terminated || (waiting && status?.lastState?.terminated)) return;
  else if (waiting) {
    sidecars.pending++;
    count.waiting++;
  } else {
    if (status) sidecars.pending++;
    count.unknown++;
  }
}

function countRegular(
  status: ContainerStatus | undefined,
  count: Counts & { stopped: number; succeeded: number },
): void {
  const { waiting, running, terminated } = status?.state ?? {};
  if (running) count.running++;
  else if (terminated) {
    count.stopped++;
    if (terminated.exitCode === 0) count.succeeded++;
  } else if (!waiting) count.unknown++;
  else if (status?.lastState?.terminated) count.stopped++;
  else count.waiting++;
}
