/** One periodic probe of a container. */
import type { Probe } from '@kruise/api/core/probe';
import type { ProbeState } from '@kruise/api/kruise/podprobemarker';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { runProbe } from '@kruise/node/kubelet/probe-handlers';
import { podUidLabel } from '@kruise/node/kubelet/sandbox-config';
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
export type Finding = { readonly state: ProbeState; readonly message: string };

export type CheckMeans = {
  readonly clock: Clock;
  readonly random: Random;
  readonly runtime: NodeRuntime;
  readonly onFinding: (finding: Finding) => void;
  readonly onError: (error: unknown) => void;
};

const maxMessageLength = 1024;

/** Probes until the signal is aborted. `mayBeMany` adds jitter to probes that start at once. */
export async function keepChecking(
  means: CheckMeans,
  target: CheckTarget,
  { mayBeMany }: { readonly mayBeMany: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, onError } = means;
  const periodMs = Math.max(1, target.probe.periodSeconds ?? 0) * 1000;
  const check = createCheck(means, target);
  try {
    if (mayBeMany) await after(clock, random.next() * periodMs, signal);
    while (!signal.aborted) {
      await check(signal).catch(onError);
      await after(clock, periodMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns a probe that counts consecutive results of one container. */
function createCheck({ clock, runtime, onFinding }: CheckMeans, target: CheckTarget) {
  const { podUid, podIP, containerName, probe } = target;
  let lastId = '';
  let row: { readonly state: ProbeState; readonly length: number } | undefined;

  return async (signal: AbortSignal): Promise<void> => {
    const found = await newestOf(runtime, podUid, containerName, signal);
    if (!found) return;
    if (found.id !== lastId) {
      lastId = found.id;
      row = undefined;
      onFinding({ state: 'Unknown', message: '' });
    }
    const { status } = await runtime.containerStatus({ containerId: found.id }, { signal });
    if (status.state !== 'CONTAINER_RUNNING') {
      onFinding({ state: 'Failed', message: `Container(${containerName}) is Non-running` });
      return;
    }
    const upSeconds = Math.floor((clock.now() - Number(status.startedAt / 1_000_000n)) / 1000);
    if (upSeconds < Math.max(1, probe.initialDelaySeconds ?? 0)) return;
    const finding = await look(runtime, clock, probe, { id: found.id, name: containerName, podIP });
    row = { state: finding.state, length: row?.state === finding.state ? row.length + 1 : 1 };
    const needed = finding.state === 'Succeeded' ? probe.successThreshold : probe.failureThreshold;
    if (row.length >= Math.max(1, needed ?? 1)) onFinding(finding);
  };
}

async function newestOf(runtime: NodeRuntime, podUid: string, name: string, signal: AbortSignal) {
  const { containers } = await runtime.listContainers(
    { filter: { labelSelector: { [podUidLabel]: podUid } } },
    { signal },
  );
  const named = containers.filter(({ metadata }) => metadata.name === name);
  return named.reduce<(typeof named)[number] | undefined>(
    (newest, each) => (newest && newest.createdAt >= each.createdAt ? newest : each),
    undefined,
  );
}

type Checked = { readonly id: string; readonly name: string; readonly podIP: string };

/** Probes once. Throws if the result is unknown. */
async function look(runtime: NodeRuntime, clock: Clock, probe: Probe, { id, name, podIP }: Checked): Promise<Finding> {
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

const succeeded = (message: string): Finding => ({ state: 'Succeeded', message: message.slice(0, maxMessageLength) });
const failed = (message: string): Finding => ({ state: 'Failed', message: message.slice(0, maxMessageLength) });
