/** The probes of all nodes of a process, and their results. */
import type { NodePodProbe, PodProbe } from '@kruise/api/kruise/nodepodprobe';
import type { NewEvent } from '@kruise/client/actions';
import { isSame } from '@kruise/machinery/json-value';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { DaemonNodes } from '../node.ts';
import { type CheckTarget, type Finding, keepChecking } from './check.ts';
import type { FindingsOf, Found } from './status.ts';

export type ProberOptions = {
  readonly nodes: DaemonNodes;
  readonly clock: Clock;
  readonly random: Random;
  readonly recordFor: (nodeName: string) => (event: NewEvent) => void;
  readonly onError: (error: unknown) => void;
};

export type Prober = {
  /** Starts the probes of a node's NodePodProbe, and stops all others. */
  follow(nodeName: string, told: NodePodProbe | undefined): void;
  findingsOf(nodeName: string): FindingsOf;
  /** Called with the name of a node that has a new result. */
  onNews: (nodeName: string) => void;
};

type Check = { readonly target: CheckTarget; readonly stop: AbortController; found?: Found };

/** An unchanged result is reported again after this time. */
const repeatMs = 600_000;

export function createProber({ nodes, clock, random, recordFor, onError }: ProberOptions, signal: AbortSignal): Prober {
  const begunAt = clock.now();
  const checks = new Map<string, Map<string, Check>>();
  const prober: Prober = { follow, findingsOf, onNews: () => {} };

  function findingsOf(nodeName: string): FindingsOf {
    const ofNode = checks.get(nodeName);
    return (uid, name) => ofNode?.get(keyOf(uid, name))?.found;
  }

  function follow(nodeName: string, told: NodePodProbe | undefined): void {
    const [runtime] = nodes.get(nodeName)?.runtimes.values() ?? [];
    const ofNode = checks.get(nodeName) ?? new Map<string, Check>();
    checks.set(nodeName, ofNode);
    const wanted = new Map(runtime ? (told?.spec.podProbes ?? []).flatMap(targetsOf) : []);
    for (const [key, { target, stop }] of ofNode) {
      if (isSame(wanted.get(key)?.target, target)) continue;
      stop.abort();
      ofNode.delete(key);
    }
    for (const [key, { pod, target }] of wanted) {
      if (ofNode.has(key) || !runtime) continue;
      const check: Check = { target, stop: new AbortController() };
      ofNode.set(key, check);
      const onFinding = (finding: Finding) => note(nodeName, pod, check, finding);
      const mayBeMany = clock.now() - begunAt < Math.max(1, target.probe.periodSeconds ?? 0) * 1000;
      const until = AbortSignal.any([signal, check.stop.signal]);
      void keepChecking({ clock, random, runtime, onFinding, onError }, target, { mayBeMany }, until).catch(onError);
    }
    if (ofNode.size === 0) checks.delete(nodeName);
  }

  function note(nodeName: string, { name, namespace, uid }: PodProbe, check: Check, finding: Finding): void {
    const { found } = check;
    const isSameAsBefore = found?.state === finding.state && found.message === finding.message;
    if (isSameAsBefore && clock.now() - found.at < repeatMs) return;
    check.found = { ...finding, at: clock.now() };
    if (!isSameAsBefore && finding.state !== 'Unknown') {
      const reason = finding.state === 'Succeeded' ? 'KruiseProbeSucceeded' : 'KruiseProbeFailed';
      const about = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid } };
      recordFor(nodeName)({ about, type: 'Normal', reason, message: finding.message });
    }
    prober.onNews(nodeName);
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
