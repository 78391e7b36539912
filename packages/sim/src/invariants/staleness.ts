/** Staleness of the caches that a component decides on. */
import { clockErrorMs, type Fault, type FaultKind } from '../faults.ts';

/** Maximum time until a change reaches the cache, with late watch events. */
const maxWatchDelayMs = 10_000;
/** Maximum time between a decision and its write, with latencies of up to two seconds per request. */
const maxReconcileMs = 15_000;
/** Maximum time without a watch whose connection breaks repeatedly: the backoff doubles each time. */
const maxWatchGapMs = 45_000;

/** Returns the age from which on a component must have known a fact when it decided. */
export function maxStalenessMs(faults: readonly Fault[], component: string): number {
  const meets = (kind: FaultKind) => faults.some((fault) => fault.kind === kind && fault.target.startsWith(component));
  return maxWatchDelayMs + (meets('is slow') ? maxReconcileMs : 0) + (meets('loses watches') ? maxWatchGapMs : 0);
}

/** Returns how far the clock of kruise-manager may be behind: it takes Pods for that much younger. */
export function managerClockLagMs(faults: readonly Fault[]): number {
  const wrong = faults.filter(({ kind, target }) => kind === 'has a wrong clock' && target.startsWith('manager'));
  return Math.max(0, ...wrong.map((fault) => -clockErrorMs(fault)));
}
