/** Status of a NodePodProbe. */
import type {
  ContainerProbeState,
  NodePodProbe,
  NodePodProbeStatus,
  PodProbeStatus,
} from '@kruise/api/kruise/nodepodprobe';
import { formatTime, type Instant } from '@kruise/values/time';
import type { ProbeResult } from './check.ts';

/** The result of a probe, with its time. */
export type TimedResult = ProbeResult & { readonly at: Instant };

/** Looks up the result of a probe by the UID of the Pod and the name of the probe. */
export type ResultLookup = (uid: string, name: string) => TimedResult | undefined;

/** Returns the status with all results, without probes that the spec no longer has. */
export function statusOf({ spec, status }: NodePodProbe, resultOf: ResultLookup): NodePodProbeStatus {
  const podProbeStatuses = (spec.podProbes ?? []).flatMap(({ name, namespace, uid, probes = [] }): PodProbeStatus[] => {
    const before = status?.podProbeStatuses?.find((each) => each.uid === uid)?.probeStates ?? [];
    const probeStates = probes.flatMap((probe) => {
      const known = before.find((each) => each.name === probe.name);
      const found = resultOf(uid, probe.name);
      return found ? [stateOf(probe.name, found, known)] : (known ?? []);
    });
    return probeStates.length > 0 ? [{ name, namespace, uid, probeStates }] : [];
  });
  return podProbeStatuses.length > 0 ? { podProbeStatuses } : {};
}

function stateOf(
  name: string,
  { state, message, at }: TimedResult,
  known: ContainerProbeState | undefined,
): ContainerProbeState {
  const time = formatTime(at);
  const since = known?.state === state ? known.lastTransitionTime : undefined;
  return { name, state, lastProbeTime: time, lastTransitionTime: since ?? time, ...(message ? { message } : {}) };
}
