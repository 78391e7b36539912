/** Prober: runs the probes of one Pod while its containers run. */
import type { Container } from '@kruise/api/core/container';
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import type { Probe } from '@kruise/api/core/probe';
import type { CancelTimer, Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { NodeRuntime } from '../../cri/runtime.ts';
import { containersOf, type PodContainer } from '../containers/containers.ts';
import type { ProbeResults } from '../pods/container-statuses.ts';
import type { ProbeOutcomes } from '../pods/pod-actions.ts';
import { newestOf, type RuntimeContainer, type RuntimePod } from '../runtime/runtime-pod.ts';
import { type ProbeOutcome, runProbe } from './probe-handlers.ts';
import type { ProbeMetrics, ProbeSeries } from './probe-metrics.ts';
import {
  inheritedProbeState,
  initialProbeState,
  nextProbeState,
  type ProbeResult,
  type ProbeState,
  type ProbeType,
} from './probe-state.ts';

/** Probes of a Pod. */
export type PodProbes = ProbeResults &
  ProbeOutcomes & {
    /** Starts the probes of containers that run now, and stops those of containers that do not. */
    observe(pod: Pod, runtimePod: RuntimePod, podIP: string): void;
    /**
     * Stops liveness and startup probes of a terminating Pod, which must not restart containers; readiness probes
     * continue.
     */
    stopLivenessAndStartup(): void;
    stop(): void;
    /** Reports whether a probe without an initial delay has not returned its first result yet. */
    isAwaitingFirstResult(): boolean;
  };

/** Dependencies of the prober. */
export type ProbeContext = {
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ProbeMetrics;
  readonly record: (container: PodContainer, type: 'Normal' | 'Warning', reason: string, message: string) => void;
  /** Called when a probe result changes. */
  readonly onChange: (type: ProbeType) => void;
};

const maxAttempts = 3;

/** Reports whether any container of a Pod has a probe. */
export function hasProbes(pod: Pod): boolean {
  return containersOf(pod).some(({ container }) => probesOf(container).length > 0);
}

/** Prober of Pods without probes. */
export const noProbes: PodProbes = {
  observe() {},
  stopLivenessAndStartup() {},
  stop() {},
  isAwaitingFirstResult: () => false,
  hasStarted: () => true,
  isReady: () => true,
  liveness: () => undefined,
  startup: () => undefined,
};

type Check = {
  readonly podContainer: PodContainer;
  readonly type: ProbeType;
  probe: Probe;
  state: ProbeState | undefined;
  startedAt: number;
  isRunning: boolean;
  isBusy: boolean;
  /** True if the probe runs without delay and has no result yet. */
  isAwaited: boolean;
  /** True if the container started before this kubelet. */
  isInherited: boolean;
  cancel: CancelTimer | undefined;
  series: ProbeSeries | undefined;
};

function probesOf({ livenessProbe, readinessProbe, startupProbe }: Container): readonly [ProbeType, Probe][] {
  const all: [ProbeType, Probe | null | undefined][] = [
    ['Startup', startupProbe],
    ['Liveness', livenessProbe],
    ['Readiness', readinessProbe],
  ];
  return all.filter((each): each is [ProbeType, Probe] => each[1] != null);
}

/** Creates the prober of a Pod. */
export function createPodProbes(pod: Pod, context: ProbeContext): PodProbes {
  const { runtime, clock, random, metrics, record, onChange } = context;
  const checks: Check[] = containersOf(pod).flatMap((podContainer) =>
    probesOf(podContainer.container).map(
      ([type, probe]): Check => ({
        podContainer,
        type,
        probe,
        state: undefined,
        startedAt: 0,
        isRunning: false,
        isBusy: false,
        isAwaited: false,
        isInherited: false,
        cancel: undefined,
        series: undefined,
      }),
    ),
  );
  let podIP = '';
  let isFirst = true;
  let isTerminating = false;
  let isStopped = false;

  const checkOf = (name: string, type: ProbeType) =>
    checks.find((each) => each.podContainer.container.name === name && each.type === type);
  const resultOf = (name: string, type: ProbeType, id: string): ProbeResult | undefined => {
    const state = checkOf(name, type)?.state;
    return state?.containerId === id ? state.result : undefined;
  };
  const hasStarted = (name: string, id: string) =>
    !checkOf(name, 'Startup') || resultOf(name, 'Startup', id) === 'success';

  function isDue(check: Check): boolean {
    if (isStopped || !check.isRunning || !check.state || check.state.isOnHold) return false;
    if (isTerminating && check.type !== 'Readiness') return false;
    const { name } = check.podContainer.container;
    return (check.type === 'Startup') !== hasStarted(name, check.state.containerId);
  }

  function schedule(check: Check, delayMs: number): void {
    check.cancel?.();
    check.cancel = clock.setTimer(delayMs, () => {
      check.cancel = undefined;
      void run(check);
    });
  }

  /** Schedules a probe as early as possible, unless it is already scheduled. */
  function scheduleFirst(check: Check): void {
    if (!isDue(check) || check.cancel || check.isBusy) return;
    const from = check.startedAt + (check.probe.initialDelaySeconds ?? 0) * 1000;
    // A restarted kubelet finds all its containers at once; the random delay spreads their first probes.
    const spreadMs = check.isInherited ? random.next() * periodMsOf(check) : 0;
    check.isInherited = false;
    const delayMs = Math.max(0, from - clock.now()) + spreadMs;
    check.isAwaited = delayMs === 0 && check.type !== 'Liveness';
    schedule(check, delayMs);
  }

  async function run(check: Check): Promise<void> {
    const { state, podContainer, type, probe } = check;
    if (!state || !isDue(check)) return;
    check.isBusy = true;
    const startedAt = clock.now();
    const outcome = await outcomeOf(check, state.containerId);
    check.isBusy = false;
    check.isAwaited = false;
    if (isStopped) return;
    check.series ??= metrics.of(pod, podContainer.container.name, type);
    check.series.observe(outcome, (clock.now() - startedAt) / 1000);
    // The container may have been replaced or have exited during the probe.
    if (check.state !== state || !isDue(check)) {
      if (check.state !== state) scheduleFirst(check);
      return;
    }
    if (outcome) {
      check.state = nextProbeState(state, type, probe, outcome);
      if (check.state.result !== state.result) {
        if (type === 'Startup') for (const each of checks) if (each.podContainer === podContainer) scheduleFirst(each);
        onChange(type);
      }
    }
    if (isDue(check)) schedule(check, periodMsOf(check));
  }

  async function outcomeOf(check: Check, containerId: string): Promise<'success' | 'failure' | undefined> {
    const { podContainer, type, probe } = check;
    let outcome: ProbeOutcome | undefined;
    let failure: unknown;
    for (let attempt = 1; attempt <= maxAttempts && !outcome; attempt++) {
      try {
        outcome = await runProbe(runtime, clock, probe, { container: podContainer.container, containerId, podIP });
      } catch (error) {
        failure = error;
      }
    }
    if (!isDue(check) || check.state?.containerId !== containerId) return undefined;
    if (!outcome) {
      const message = `${type} probe errored and resulted in unknown state: ${(failure as Error).message}`;
      record(podContainer, 'Warning', 'Unhealthy', message);
      return undefined;
    }
    if (outcome.result === 'failure') {
      record(podContainer, 'Warning', 'Unhealthy', `${type} probe failed: ${outcome.output}`);
      return 'failure';
    }
    if (outcome.result === 'warning') {
      record(podContainer, 'Warning', 'ProbeWarning', `${type} probe warning: ${outcome.output}`);
    }
    return 'success';
  }

  function observeCheck(check: Check, newest: RuntimeContainer | undefined): void {
    if (newest && check.state?.containerId !== newest.id) {
      check.cancel?.();
      check.cancel = undefined;
      const known = isFirst ? statusOf(pod, newest) : undefined;
      check.state = known
        ? inheritedProbeState(check.type, newest.id, known)
        : initialProbeState(check.type, newest.id);
      check.isInherited = isFirst;
    }
    check.isRunning = newest?.state === 'running';
    if (check.isRunning && newest) {
      check.startedAt = newest.startedAt;
      scheduleFirst(check);
      return;
    }
    check.cancel?.();
    check.cancel = undefined;
    if (check.state) check.state = { ...check.state, result: 'failure' };
  }

  return {
    observe(_pod, runtimePod, ip) {
      if (isStopped) return;
      podIP = ip;
      for (const check of checks) observeCheck(check, newestOf(runtimePod, check.podContainer.container.name));
      isFirst = false;
    },
    stopLivenessAndStartup() {
      isTerminating = true;
      for (const check of checks) {
        if (check.type === 'Readiness') continue;
        check.cancel?.();
        check.cancel = undefined;
        if (check.state) check.state = { ...check.state, result: 'success' };
      }
      for (const check of checks) scheduleFirst(check);
    },
    stop() {
      isStopped = true;
      for (const check of checks) {
        check.cancel?.();
        check.series?.remove();
      }
    },
    isAwaitingFirstResult: () =>
      checks.some(({ isAwaited, isBusy, cancel }) => isAwaited && (isBusy || cancel !== undefined)),
    hasStarted,
    isReady: (name, id) => !checkOf(name, 'Readiness') || resultOf(name, 'Readiness', id) === 'success',
    liveness: (id) => outcomeFor('Liveness', id),
    startup: (id) => outcomeFor('Startup', id),
  };

  function outcomeFor(type: ProbeType, id: string): 'success' | 'failure' | undefined {
    const result = checks.find((each) => each.type === type && each.state?.containerId === id)?.state?.result;
    return result === 'unknown' ? undefined : result;
  }
}

function periodMsOf({ probe }: Pick<Check, 'probe'>): number {
  return (probe.periodSeconds ?? 10) * 1000;
}

/** Returns the container status in the API, if it belongs to the same container instance. */
function statusOf({ status }: Pod, { id, name }: RuntimeContainer): ContainerStatus | undefined {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    (each) => each.name === name && each.containerID?.endsWith(`://${id}`),
  );
}
