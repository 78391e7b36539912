import { createTurns, type Line, type Turns } from '../turns.ts';

/**
 * Writes per batch, some ten milliseconds of work. With half as many, the smaller store transactions cost more than the
 * batching gains.
 */
const writesPerTurn = 16;

/**
 * Batches concurrent writes: a few start at a time. The first are stored and answered while the next are processed, so
 * that clients continue meanwhile. If all started together, all would be answered together, and clients and server
 * would alternately wait for each other.
 */
export function createWriteTurns(): Turns<void> {
  return createTurns(writesPerTurn, asTheyCame());
}

function asTheyCame(): Line<void> {
  let waiting: (() => void)[] = [];
  return {
    add: (_, go) => waiting.push(go),
    next(most) {
      const due = waiting.slice(0, most);
      waiting = waiting.slice(most);
      return due;
    },
  };
}
