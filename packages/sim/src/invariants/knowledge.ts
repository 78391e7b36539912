/** What a component may not know yet of the world when it writes. */
import { clockErrorMs, type Fault, type FaultKind } from '../faults.ts';

/** How long it takes to hear of something, however late one sees. */
const heardAfterMs = 10_000;
/** How long before it is written something may have been decided, where each request takes up to two seconds. */
const longestPassMs = 15_000;
/** How long one may be blind whose watches break again and again: each time it waits twice as long for the next. */
const longestBlindMs = 45_000;

/** For how long something must have been so that whoever writes has known it when he decided to. */
export function knownAfterMs(faults: readonly Fault[], component: string): number {
  const meets = (kind: FaultKind) => faults.some((fault) => fault.kind === kind && fault.target.startsWith(component));
  return heardAfterMs + (meets('is slow') ? longestPassMs : 0) + (meets('loses watches') ? longestBlindMs : 0);
}

/** How far the clock of kruise-manager may be behind, by which Pods are so much younger than they are. */
export function managerBehindMs(faults: readonly Fault[]): number {
  const wrong = faults.filter(({ kind, target }) => kind === 'has a wrong clock' && target.startsWith('manager'));
  return Math.max(0, ...wrong.map((fault) => -clockErrorMs(fault)));
}
