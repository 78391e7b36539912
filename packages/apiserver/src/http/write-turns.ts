/**
 * Has writes that come together begun a few at a time. The first are stored and answered while the next are worked on,
 * and whoever sent them goes on meanwhile; begun all at once, they would be answered all at once, and a client and the
 * server would do nothing but wait for each other by turns.
 */
export interface WriteTurns {
  /** Nothing to wait for, or the moment to go on. */
  take(): Promise<void> | undefined;
}

/** Some ten milliseconds of work. With half as many, storing them in smaller groups costs more than it gains. */
const writesPerTurn = 16;

export function createWriteTurns(): WriteTurns {
  let left = writesPerTurn;
  let isUnderWay = false;
  let waiting: (() => void)[] = [];

  function begin(): void {
    isUnderWay = true;
    // Sockets are looked at, and what has been stored is answered, before this is called.
    setImmediate(end);
  }

  function end(): void {
    isUnderWay = false;
    const due = waiting.slice(0, writesPerTurn);
    waiting = waiting.slice(writesPerTurn);
    left = writesPerTurn - due.length;
    if (due.length > 0) begin();
    for (const go of due) go();
  }

  return {
    take() {
      if (!isUnderWay) begin();
      if (left === 0) return new Promise((resolve) => waiting.push(resolve));
      left--;
      return undefined;
    },
  };
}
