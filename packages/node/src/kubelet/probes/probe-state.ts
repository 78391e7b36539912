/** Probe state: a result changes only after enough consecutive outcomes of one kind. */

/** Type of a probe. */
export type ProbeType = 'Liveness' | 'Readiness' | 'Startup';

/** Result of a probe, after its thresholds. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** State of one probe of one container. */
export type ProbeState = {
  readonly containerId: string;
  readonly result: ProbeResult;
  readonly last: ProbeResult | undefined;
  /** Number of consecutive outcomes equal to the last one. */
  readonly run: number;
  /** True if the probe is paused until the container is replaced. */
  readonly isOnHold: boolean;
};

/** Numbers of consecutive outcomes that change the result. */
export type Thresholds = { readonly successThreshold?: number; readonly failureThreshold?: number };

/** Before its first probe a container is live and not ready. */
const initialResults: { readonly [T in ProbeType]: ProbeResult } = {
  Liveness: 'success',
  Readiness: 'failure',
  Startup: 'unknown',
};

/** Returns the probe state of a new container. */
export function initialProbeState(type: ProbeType, containerId: string): ProbeState {
  return { containerId, result: initialResults[type], last: undefined, run: 0, isOnHold: false };
}

/**
 * Returns the probe state of a container that a previous kubelet already probed. The previous result is kept until a
 * probe changes it; otherwise a kubelet restart would make Pods unready.
 */
export function inheritedProbeState(
  type: ProbeType,
  containerId: string,
  { started, ready }: { readonly started?: boolean | null; readonly ready?: boolean },
): ProbeState {
  const state = initialProbeState(type, containerId);
  if (type === 'Startup' && started) return { ...state, result: 'success', isOnHold: true };
  return type === 'Readiness' && ready ? { ...state, result: 'success' } : state;
}

/** Returns the state after one probe. */
export function nextProbeState(
  state: ProbeState,
  type: ProbeType,
  { successThreshold = 1, failureThreshold = 3 }: Thresholds,
  outcome: 'success' | 'failure',
): ProbeState {
  const run = state.last === outcome ? state.run + 1 : 1;
  const next = { ...state, last: outcome, run };
  if (run < (outcome === 'success' ? successThreshold : failureThreshold)) return next;
  // A container that will be restarted is not probed any more, and neither is one whose startup probe succeeded.
  const isOnHold = type === 'Startup' || (type === 'Liveness' && outcome === 'failure');
  return { ...next, result: outcome, isOnHold, run: isOnHold ? 0 : run };
}
