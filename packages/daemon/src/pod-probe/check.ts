/** One periodic probe of a container. */
import type { Probe } from '@kruise/api/core/probe';
import type { ProbeState } from '@kruise/api/kruise/podprobemarker';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { podUidLabel } from '@kruise/node/kubelet/containers/sandbox-config';
import { runProbe } from '@kruise/node/kubelet/probes/probe-handlers';
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';

/** The container and its probe. */
export type CheckTarget = {
  readonly podUid: string;
  readonly podIP: string;
  readonly containerName: string;
  readonly probe: Probe;
};

/** The result of a probe. */
export type ProbeResult = { readonly state: ProbeState; readonly message: string };

export type CheckDependencies = {
  readonly clock: Clock;
  readonly random: Random;
  readonly runtime: NodeRuntime;
  readonly onResult: (finding: ProbeResult) => void;
  readonly onError: (error: unknown) => void;
};

const maxMessageLength = 1024;

/** Probes until the signal is aborted. `mayBeMany` adds jitter to probes that start at once. */
export async function runProbeLoop(
  dependencies: CheckDependencies,
  target: CheckTarget,
  { withJitter }: { readonly withJitter: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, onError } = dependencies;
  const periodMs = Math.max(1, target.probe.periodSeconds ?? 0) * 1000;
  const check = createCheck(dependencies, target);
  try {
    if (withJitter) await after(clock, random.next() * periodMs, signal);
    while (!signal.aborted) {
      await check(signal).catch(onError);
      await after(clock, periodMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns a probe that counts consecutive results of one container. */
function createCheck({ clock, runtime, onResult }: CheckDependencies, target: CheckTarget) {
  const { podUid, podIP, containerName, probe } = target;
  let lastId = '';
  let streak: { readonly state: ProbeState; readonly length: number } | undefined;

  return async (signal: AbortSignal): Promise<void> => {
    const found = await newestOf(runtime, podUid, containerName, signal);
    if (!found) return;
    if (found.id !== lastId) {
      lastId = found.id;
      streak = undefined;
      onResult({ state: 'Unknown', message: '' });
    }
    const { status } = await runtime.containerStatus({ containerId: found.id }, { signal });
    if (status.state !== 'CONTAINER_RUNNING') {
      onResult({ state: 'Failed', message: `Container(${containerName}) is Non-running` });
      return;
    }
    const upSeconds = Math.floor((clock.now() - Number(status.startedAt / 1_000_000n)) / 1000);
    if (upSeconds < Math.max(1, probe.initialDelaySeconds ?? 0)) return;
    const finding = await probeOnce(runtime, clock, probe, { id: found.id, name: containerName, podIP });
    streak = { state: finding.state, length: streak?.state === finding.state ? streak.length + 1 : 1 };
    const needed = finding.state === 'Succeeded' ? probe.successThreshold : probe.failureThreshold;
    if (streak.length >= Math.max(1, needed ?? 1)) onResult(finding);
  };
}

async function newestOf(runtime: NodeRuntime, podUid: string, name: string, signal: AbortSignal) {
  const { containers } = await runtime.listContainers(
    { filter: { labelSelector: { [podUidLabel]: podUid } } },
    { signal },
  );
  const candidates = containers.filter(({ metadata }) => metadata.name === name);
  return candidates.reduce<(typeof candidates)[number] | undefined>(
    (newest, each) => (newest && newest.createdAt >= each.createdAt ? newest : each),
    undefined,
  );
}

type Checked = { readonly id: string; readonly name: string; readonly podIP: string };

/** Probes once. Throws if the result is unknown. */
async function probeOnce(
  runtime: NodeRuntime,
  clock: Clock,
  probe: Probe,
  { id, name, podIP }: Checked,
): Promise<ProbeResult> {
  const timeoutSeconds = Math.max(1, probe.timeoutSeconds ?? 0);
  if (probe.exec) {
    const cmd = probe.exec.command ?? [];
    const { stdout, stderr, exitCode } = await runtime.execSync({ containerId: id, cmd, timeout: timeoutSeconds });
    return exitCode === 0 ? succeeded(textOf(stdout)) : failed(textOf(stderr));
  }
  const target = { container: { name }, containerId: id, podIP };
  const { result, output } = await runProbe(runtime, clock, { ...probe, timeoutSeconds }, target);
  return result === 'failure' ? failed(output) : succeeded(output);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const succeeded = (message: string): ProbeResult => ({
  state: 'Succeeded',
  message: message.slice(0, maxMessageLength),
});
const failed = (message: string): ProbeResult => ({ state: 'Failed', message: message.slice(0, maxMessageLength) });
