import { createTurns, type Line, type Turns } from '../turns.ts';

/** Some ten milliseconds of work. With half as many, storing them in smaller groups costs more than it gains. */
const writesPerTurn = 16;

/**
 * Has writes that come together begun a few at a time. The first are stored and answered while the next are worked on,
 * and whoever sent them goes on meanwhile; begun all at once, they would be answered all at once, and a client and the
 * server would do nothing but wait for each other by turns.
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
