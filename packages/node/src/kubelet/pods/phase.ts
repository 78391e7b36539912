/** Pod phase, derived from the container statuses. */
import type { ContainerStatus, Pod, PodStatus } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';

/** Pod phase. */
export type Phase = NonNullable<PodStatus['phase']>;

/** Inputs of the phase besides the Pod spec. */
export type PhaseInputs = {
  /** Statuses of init and regular containers. */
  readonly statuses: readonly ContainerStatus[];
  /** True while the Pod is terminating or terminated. */
  readonly isEnding: boolean;
  /** True if a regular container runs or is about to run. */
  readonly hasInitialized: boolean;
  /** A static Pod does not complete when it terminates. */
  readonly isStatic: boolean;
};

/** Reports whether a phase is terminal. */
export function isTerminalPhase(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Returns the phase of a Pod. */
export function phaseOf({ spec }: Pod, { statuses, isEnding, hasInitialized, isStatic }: PhaseInputs): Phase {
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
  const terminated = status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
  if (!terminated) init.pending++;
  else if (terminated.exitCode !== 0) init.failed++;
}

type Counts = { unknown: number; running: number; waiting: number };

/** Sidecar exits do not affect the phase; only sidecars that have never started keep a Pod pending. */
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
