/** The probes of all nodes of a process, and their results. */
import type { NodePodProbe, PodProbe } from '@kruise/api/kruise/nodepodprobe';
import type { NewEvent } from '@kruise/client/actions';
import { isSame } from '@kruise/machinery/json-value';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { DaemonNodes } from '../node.ts';
import { type CheckTarget, type ProbeResult, runProbeLoop } from './check.ts';
import type { ResultLookup, TimedResult } from './status.ts';

export type ProberOptions = {
  readonly nodes: DaemonNodes;
  readonly clock: Clock;
  readonly random: Random;
  readonly recordFor: (nodeName: string) => (event: NewEvent) => void;
  readonly onError: (error: unknown) => void;
};

export type Prober = {
  /** Starts the probes of a node's NodePodProbe, and stops all others. */
  syncProbes(nodeName: string, desired: NodePodProbe | undefined): void;
  resultsOf(nodeName: string): ResultLookup;
  /** Called with the name of a node that has a new result. */
  onResult: (nodeName: string) => void;
};

type Check = { readonly target: CheckTarget; readonly stop: AbortController; found?: TimedResult };

/** An unchanged result is reported again after this time. */
const reportIntervalMs = 600_000;

export function createProber({ nodes, clock, random, recordFor, onError }: ProberOptions, signal: AbortSignal): Prober {
  const startedAt = clock.now();
  const checks = new Map<string, Map<string, Check>>();
  const prober: Prober = { syncProbes, resultsOf, onResult: () => {} };

  function resultsOf(nodeName: string): ResultLookup {
    const ofNode = checks.get(nodeName);
    return (uid, name) => ofNode?.get(keyOf(uid, name))?.found;
  }

  function syncProbes(nodeName: string, desired: NodePodProbe | undefined): void {
    const [runtime] = nodes.get(nodeName)?.runtimes.values() ?? [];
    const ofNode = checks.get(nodeName) ?? new Map<string, Check>();
    checks.set(nodeName, ofNode);
    const wanted = new Map(runtime ? (desired?.spec.podProbes ?? []).flatMap(targetsOf) : []);
    for (const [key, { target, stop }] of ofNode) {
      if (isSame(wanted.get(key)?.target, target)) continue;
      stop.abort();
      ofNode.delete(key);
    }
    for (const [key, { pod, target }] of wanted) {
      if (ofNode.has(key) || !runtime) continue;
      const check: Check = { target, stop: new AbortController() };
      ofNode.set(key, check);
      const onResult = (result: ProbeResult) => recordResult(nodeName, pod, check, result);
      const withJitter = clock.now() - startedAt < Math.max(1, target.probe.periodSeconds ?? 0) * 1000;
      const until = AbortSignal.any([signal, check.stop.signal]);
      void runProbeLoop({ clock, random, runtime, onResult, onError }, target, { withJitter }, until).catch(onError);
    }
    if (ofNode.size === 0) checks.delete(nodeName);
  }

  function recordResult(nodeName: string, { name, namespace, uid }: PodProbe, check: Check, result: ProbeResult): void {
    const { found } = check;
    const isSameAsBefore = found?.state === result.state && found.message === result.message;
    if (isSameAsBefore && clock.now() - found.at < reportIntervalMs) return;
    check.found = { ...result, at: clock.now() };
    if (!isSameAsBefore && result.state !== 'Unknown') {
      const reason = result.state === 'Succeeded' ? 'KruiseProbeSucceeded' : 'KruiseProbeFailed';
      const about = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid } };
      recordFor(nodeName)({ about, type: 'Normal', reason, message: result.message });
    }
    prober.onResult(nodeName);
  }

  return prober;
}

function keyOf(uid: string, name: string): string {
  return `${uid}/${name}`;
}

/** Returns the probes of a Pod by unique key. */
function targetsOf(
  pod: PodProbe,
): readonly (readonly [string, { readonly pod: PodProbe; readonly target: CheckTarget }])[] {
  return (pod.probes ?? []).map(({ name, containerName, probe }) => [
    keyOf(pod.uid, name),
    { pod, target: { podUid: pod.uid, podIP: pod.IP, containerName, probe } },
  ]);
}
