/** What is made of one check after another: a result changes only after enough of a kind in a row (kubelet.md §5). */

/** What a check is for. */
export type ProbeType = 'Liveness' | 'Readiness' | 'Startup';

/** What is concluded from checks so far. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** The checks of one kind on one container. */
export type ProbeState = {
  readonly containerId: string;
  readonly result: ProbeResult;
  readonly last: ProbeResult | undefined;
  /** How many in a row ended as the last one did. */
  readonly run: number;
  /** Nothing is checked any more until there is another container. */
  readonly isOnHold: boolean;
};

/** How many in a row it takes. */
export type Thresholds = { readonly successThreshold?: number; readonly failureThreshold?: number };

/** Until it is checked a container is taken to live, and not to be ready. */
const initialResults: { readonly [T in ProbeType]: ProbeResult } = {
  Liveness: 'success',
  Readiness: 'failure',
  Startup: 'unknown',
};

/** The state of a new container. */
export function initialProbeState(type: ProbeType, containerId: string): ProbeState {
  return { containerId, result: initialResults[type], last: undefined, run: 0, isOnHold: false };
}

/**
 * The state of a container that an earlier kubelet has checked: what it found is believed until it is found otherwise,
 * lest Pods cease to be ready because their kubelet starts anew.
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

/** The state after a check. */
export function afterCheck(
  state: ProbeState,
  type: ProbeType,
  { successThreshold = 1, failureThreshold = 3 }: Thresholds,
  found: 'success' | 'failure',
): ProbeState {
  const run = state.last === found ? state.run + 1 : 1;
  const counted = { ...state, last: found, run };
  if (run < (found === 'success' ? successThreshold : failureThreshold)) return counted;
  // What is to be restarted is not disturbed any more, and what has started has.
  const isOnHold = type === 'Startup' || (type === 'Liveness' && found === 'failure');
  return { ...counted, result: found, isOnHold, run: isOnHold ? 0 : run };
}
