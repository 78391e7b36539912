/**
 * Runs work in batches that start together, and returns to the event loop in between. Work never waits for a timer,
 * only for other work of the process.
 */
export interface Turns<R> {
  /** Returns undefined if the request may start at once, or a promise for its start. */
  take(request: R): Promise<void> | undefined;
}

/** Queue of waiting requests, with its own order. */
export interface Line<R> {
  add(request: R, go: () => void): void;
  /** Removes and returns the next requests, up to a maximum. */
  next(most: number): readonly (() => void)[];
}

export function createTurns<R>(perTurn: number, line: Line<R>): Turns<R> {
  let left = perTurn;
  let isUnderWay = false;

  function begin(): void {
    isUnderWay = true;
    // The event loop polls sockets and sends responses for stored writes before this callback.
    setImmediate(end);
  }

  function end(): void {
    isUnderWay = false;
    const due = line.next(perTurn);
    left = perTurn - due.length;
    if (due.length > 0) begin();
    for (const go of due) go();
  }

  return {
    take(request) {
      if (!isUnderWay) begin();
      if (left === 0) return new Promise((resolve) => line.add(request, resolve));
      left--;
      return undefined;
    },
  };
}
