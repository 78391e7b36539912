/**
 * Container termination: preStop hook, then SIGTERM, then SIGKILL. Sidecars terminate after the containers they serve.
 */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { after, type Clock } from '@kruise/values/clock';
import type { NodeRuntime } from '../../cri/runtime.ts';
import type { KillReason } from '../pods/pod-actions.ts';
import { runHook } from '../probes/probe-handlers.ts';
import type { RuntimeContainer, RuntimePod } from '../runtime/runtime-pod.ts';
import { findContainer, type PodContainer } from './containers.ts';

/** Dependencies of container termination. */
export type KillContext = {
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly record: (container: PodContainer, type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly podIP: () => string;
};

/** Request to kill a container. */
export type KillRequest = {
  readonly pod: Pod;
  readonly target: Pick<RuntimeContainer, 'id' | 'name'>;
  readonly message?: string;
  readonly reason?: KillReason;
  /** Overrides the grace period of the Pod. */
  readonly graceSeconds?: number;
  /** Resolves when this container may be stopped. */
  readonly turn?: Promise<void>;
};

const minGraceSeconds = 2;

/** Returns the termination grace period of a container. */
export function graceSecondsOf({ metadata, spec }: Pod, container: Container | undefined, reason: KillReason): number {
  if (metadata.deletionGracePeriodSeconds != null) return metadata.deletionGracePeriodSeconds;
  const probe =
    reason === 'StartupProbe'
      ? container?.startupProbe
      : reason === 'LivenessProbe'
        ? container?.livenessProbe
        : undefined;
  return probe?.terminationGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? minGraceSeconds;
}

/** Kills a container; resolves when the container has terminated. */
export async function killContainer(context: KillContext, request: KillRequest, signal: AbortSignal): Promise<void> {
  const { runtime, clock, record } = context;
  const { pod, target, reason } = request;
  const podContainer = findContainer(pod, target.name);
  let grace = request.graceSeconds ?? graceSecondsOf(pod, podContainer?.container, reason);
  const message = request.message || `Stopping container ${target.name}`;
  if (podContainer) record(podContainer, 'Normal', 'Killing', message);

  const startedAt = clock.now();
  const elapsedSeconds = () => Math.floor((clock.now() - startedAt) / 1000);
  const preStop = podContainer?.container.lifecycle?.preStop;
  if (podContainer && preStop && grace > 0) {
    const warn = (eventReason: string, eventMessage: string) =>
      record(podContainer, 'Warning', eventReason, eventMessage);
    const { container } = podContainer;
    const hookContext = { container, containerId: target.id, podIP: context.podIP(), warn };
    const hook = runHook(runtime, clock, preStop, hookContext, signal).catch(() => {
      if (!signal.aborted) warn('FailedPreStopHook', 'PreStopHook failed');
    });
    await waitWithTimeout(clock, grace, hook, signal);
  }
  if (request.turn && grace > elapsedSeconds())
    await waitWithTimeout(clock, grace - elapsedSeconds(), request.turn, signal);
  grace = Math.max(minGraceSeconds, grace - elapsedSeconds());
  await runtime.stopContainer({ containerId: target.id, timeout: grace }, { signal });
}

/** Waits for a promise with a timeout. */
async function waitWithTimeout(clock: Clock, seconds: number, work: Promise<void>, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  try {
    await Promise.race([work, after(clock, seconds * 1000, until)]);
  } finally {
    done.abort();
  }
}

/** Kills all running containers of a Pod, then stops its sandboxes. */
export async function killPod(
  context: KillContext,
  pod: Pod,
  { sandboxes, containers }: RuntimePod,
  graceSeconds: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const alive = containers.filter(({ state }) => state === 'running' || state === 'unknown');
  const terminated = new Map(alive.map(({ name }) => [name, Promise.withResolvers<void>()]));
  const mayStopByName = terminationOrder(pod, (name) => terminated.get(name)?.promise);
  const results = await Promise.allSettled(
    alive.map(async (target) => {
      try {
        const turn = mayStopByName.get(target.name);
        const request = {
          pod,
          target,
          ...(graceSeconds === undefined ? {} : { graceSeconds }),
          ...(turn ? { turn } : {}),
        };
        await killContainer(context, request, signal);
      } finally {
        terminated.get(target.name)?.resolve();
      }
    }),
  );
  signal.throwIfAborted();
  const failures = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
  if (failures.length > 0)
    throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures[0]!.message);
  for (const { id, isReady } of sandboxes) if (isReady) await context.runtime.stopPodSandbox({ podSandboxId: id });
}

/** Returns when each sidecar may be stopped: after all regular containers and all later sidecars have terminated. */
function terminationOrder(
  { spec }: Pod,
  terminationOf: (name: string) => Promise<void> | undefined,
): Map<string, Promise<void>> {
  const mayStopByName = new Map<string, Promise<void>>();
  if (!spec?.initContainers?.some(isSidecar)) return mayStopByName;
  const before: Promise<void>[] = [];
  for (const { name } of spec.containers ?? []) before.push(terminationOf(name) ?? Promise.resolve());
  for (const container of spec.initContainers.toReversed()) {
    if (!isSidecar(container)) continue;
    mayStopByName.set(
      container.name,
      Promise.all(before).then(() => {}),
    );
    before.push(terminationOf(container.name) ?? Promise.resolve());
  }
  return mayStopByName;
}
