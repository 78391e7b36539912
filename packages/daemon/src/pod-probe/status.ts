/** What a node says of its checks (operations.md §B8). */
import type {
  ContainerProbeState,
  NodePodProbe,
  NodePodProbeStatus,
  PodProbeStatus,
} from '@kruise/api/kruise/nodepodprobe';
import { formatTime, type Instant } from '@kruise/values/time';
import type { Finding } from './check.ts';

/** Something found, and when. */
export type Found = Finding & { readonly at: Instant };

/** What is known of checks, by the uid of the Pod and the name of the check. */
export type FindingsOf = (uid: string, name: string) => Found | undefined;

/** The status with all that was found; of what is asked for no more nothing is said. */
export function statusOf({ spec, status }: NodePodProbe, findingsOf: FindingsOf): NodePodProbeStatus {
  const podProbeStatuses = (spec.podProbes ?? []).flatMap(({ name, namespace, uid, probes = [] }): PodProbeStatus[] => {
    const before = status?.podProbeStatuses?.find((each) => each.uid === uid)?.probeStates ?? [];
    const probeStates = probes.flatMap((probe) => {
      const known = before.find((each) => each.name === probe.name);
      const found = findingsOf(uid, probe.name);
      return found ? [stateOf(probe.name, found, known)] : (known ?? []);
    });
    return probeStates.length > 0 ? [{ name, namespace, uid, probeStates }] : [];
  });
  return podProbeStatuses.length > 0 ? { podProbeStatuses } : {};
}

function stateOf(
  name: string,
  { state, message, at }: Found,
  known: ContainerProbeState | undefined,
): ContainerProbeState {
  const time = formatTime(at);
  const since = known?.state === state ? known.lastTransitionTime : undefined;
  return { name, state, lastProbeTime: time, lastTransitionTime: since ?? time, ...(message ? { message } : {}) };
}
