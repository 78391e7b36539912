import type { Transport } from '@kruise/client/transport';

/**
 * Has those who live in the server's process take turns with everyone outside. A request in one process is answered
 * without coming back to where the process looks at its sockets, and the answer leads to the next: thousands of them
 * would keep a client from outside waiting for seconds.
 */
export interface Turns {
  /** Nothing to wait for, or the moment to go on. */
  take(): Promise<void> | undefined;
}

/**
 * How many requests are begun before sockets are looked at: some tens of milliseconds of work. With half as many, writes
 * are stored in smaller groups, which takes a tenth more processor time.
 */
const requestsPerTurn = 128;

export function createTurns(): Turns {
  let left = requestsPerTurn;
  let waiting: (() => void)[] = [];
  let isUnderWay = false;

  function begin(): void {
    isUnderWay = true;
    // Sockets are looked at before this is called.
    setImmediate(end);
  }

  function end(): void {
    isUnderWay = false;
    const due = waiting.slice(0, requestsPerTurn);
    waiting = waiting.slice(requestsPerTurn);
    left = requestsPerTurn - due.length;
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

/** A way to the server whose requests take turns. Watches only wait, and need none. */
export function takingTurns(turns: Turns, transport: Transport): Transport {
  return {
    async request(request) {
      const turn = turns.take();
      if (turn) await turn;
      return transport.request(request);
    },
    watch: (request) => transport.watch(request),
  };
}
