/**
 * Has what comes together begun so many at a time, and has the process look at its sockets in between. Nothing waits for
 * time: only for what else the process has to do.
 */
export interface Turns<R> {
  /** Nothing to wait for, or the moment to go on. */
  take(request: R): Promise<void> | undefined;
}

/** Those who wait, in an order of their own. */
export interface Line<R> {
  add(request: R, go: () => void): void;
  /** The next of them, so many at most, who do not wait any longer. */
  next(most: number): readonly (() => void)[];
}

export function createTurns<R>(perTurn: number, line: Line<R>): Turns<R> {
  let left = perTurn;
  let isUnderWay = false;

  function begin(): void {
    isUnderWay = true;
    // Sockets are looked at, and what has been stored is answered, before this is called.
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
