/** Checks the containers of one Pod for as long as they run. */
import type { Container } from '@kruise/api/core/container';
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import type { Probe } from '@kruise/api/core/probe';
import type { CancelTimer, Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { NodeRuntime } from '../cri/runtime.ts';
import type { ProbeVerdicts } from './container-statuses.ts';
import { containersOf, type PodContainer } from './containers.ts';
import type { ProbeFindings } from './pod-actions.ts';
import { type ProbeOutcome, runProbe } from './probe-handlers.ts';
import type { ProbeMetrics, ProbeSeries } from './probe-metrics.ts';
import {
  afterCheck,
  inheritedProbeState,
  initialProbeState,
  type ProbeResult,
  type ProbeState,
  type ProbeType,
} from './probe-state.ts';
import { newestOf, type RuntimeContainer, type RuntimePod } from './runtime-pod.ts';

/** The checks of a Pod. */
export type PodProbes = ProbeVerdicts &
  ProbeFindings & {
    /** Begins with what has come to run, and ends with what does not any more. */
    observe(pod: Pod, runtimePod: RuntimePod, podIP: string): void;
    /** A Pod that ends is not to be restarted for it: from here on only its readiness is checked. */
    stopLethal(): void;
    stop(): void;
    /** Whether a check of a container that is due at once has not been answered for the first time. */
    areFirstUnderWay(): boolean;
  };

/** What checks are made with. */
export type ProbeContext = {
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ProbeMetrics;
  readonly record: (container: PodContainer, type: 'Normal' | 'Warning', reason: string, message: string) => void;
  /** Told when the result of a check is another than before. */
  readonly onChange: (type: ProbeType) => void;
};

const maxAttempts = 3;

/** Whether any container of a Pod is checked. */
export function hasProbes(pod: Pod): boolean {
  return containersOf(pod).some(({ container }) => probesOf(container).length > 0);
}

/** What is said of Pods whose containers nobody checks. */
export const noProbes: PodProbes = {
  observe() {},
  stopLethal() {},
  stop() {},
  areFirstUnderWay: () => false,
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
  /** It is made at once, and its first answer is not there yet. */
  isAwaited: boolean;
  /** Its container ran before this kubelet did. */
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

/** The checks of a Pod, of which none runs yet. */
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
  let isEnding = false;
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
    if (isEnding && check.type !== 'Readiness') return false;
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

  /** As soon as may be, unless it is waiting for its time already. */
  function begin(check: Check): void {
    if (!isDue(check) || check.cancel || check.isBusy) return;
    const from = check.startedAt + (check.probe.initialDelaySeconds ?? 0) * 1000;
    // A kubelet that starts finds all its containers at once, and is not to check them all at once.
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
    const begunAt = clock.now();
    const found = await outcomeOf(check, state.containerId);
    check.isBusy = false;
    check.isAwaited = false;
    if (isStopped) return;
    check.series ??= metrics.of(pod, podContainer.container.name, type);
    check.series.checked(found, (clock.now() - begunAt) / 1000);
    // Meanwhile there may be another container, or none.
    if (check.state !== state || !isDue(check)) {
      if (check.state !== state) begin(check);
      return;
    }
    if (found) {
      check.state = afterCheck(state, type, probe, found);
      if (check.state.result !== state.result) {
        if (type === 'Startup') for (const each of checks) if (each.podContainer === podContainer) begin(each);
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
      begin(check);
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
    stopLethal() {
      isEnding = true;
      for (const check of checks) {
        if (check.type === 'Readiness') continue;
        check.cancel?.();
        check.cancel = undefined;
        if (check.state) check.state = { ...check.state, result: 'success' };
      }
      for (const check of checks) begin(check);
    },
    stop() {
      isStopped = true;
      for (const check of checks) {
        check.cancel?.();
        check.series?.forget();
      }
    },
    areFirstUnderWay: () =>
      checks.some(({ isAwaited, isBusy, cancel }) => isAwaited && (isBusy || cancel !== undefined)),
    hasStarted,
    isReady: (name, id) => !checkOf(name, 'Readiness') || resultOf(name, 'Readiness', id) === 'success',
    liveness: (id) => findingOf('Liveness', id),
    startup: (id) => findingOf('Startup', id),
  };

  function findingOf(type: ProbeType, id: string): 'success' | 'failure' | undefined {
    const result = checks.find((each) => each.type === type && each.state?.containerId === id)?.state?.result;
    return result === 'unknown' ? undefined : result;
  }
}

function periodMsOf({ probe }: Pick<Check, 'probe'>): number {
  return (probe.periodSeconds ?? 10) * 1000;
}

/** What the API says of a container, if it is this very one. */
function statusOf({ status }: Pod, { id, name }: RuntimeContainer): ContainerStatus | undefined {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    (each) => each.name === name && each.containerID?.endsWith(`://${id}`),
  );
}
