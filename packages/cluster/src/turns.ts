import type { ApiRequest, Transport } from '@kruise/client/transport';

/**
 * Has those who live in the server's process take turns with everyone outside. A request in one process is answered
 * without coming back to where the process looks at its sockets, and the answer leads to the next: thousands of them
 * would keep a client from outside waiting for seconds. Among themselves those who write go one after the other too.
 */
export interface Turns {
  /** Nothing to wait for, or the moment to go on. */
  take(request: Pick<ApiRequest, 'query' | 'isBackground'>): Promise<void> | undefined;
}

/**
 * How many requests are begun before sockets are looked at: some tens of milliseconds of work. With half as many, writes
 * are stored in smaller groups, which takes a tenth more processor time.
 */
const requestsPerTurn = 128;
/** As many of them as are in the background, at least, so that those are never kept waiting for ever. */
const inBackground = 8;

export function createTurns(): Turns {
  let left = requestsPerTurn;
  /** Those who wait, by writer. */
  const waiting = new Map<string, (() => void)[]>();
  let background: (() => void)[] = [];
  let isUnderWay = false;

  function begin(): void {
    isUnderWay = true;
    // Sockets are looked at before this is called.
    setImmediate(end);
  }

  function end(): void {
    isUnderWay = false;
    const due = nextOnes();
    left = requestsPerTurn - due.length;
    if (due.length > 0) begin();
    for (const go of due) go();
  }

  /** One of each writer after the other: who has little to write does not wait behind those who have much. */
  function nextOnes(): readonly (() => void)[] {
    const due: (() => void)[] = [];
    const room = requestsPerTurn - Math.min(inBackground, background.length);
    // A writer that has more comes back last, and is met again.
    for (const [writer, requests] of waiting) {
      waiting.delete(writer);
      due.push(requests.shift()!);
      if (requests.length > 0) waiting.set(writer, requests);
      if (due.length === room) break;
    }
    const others = requestsPerTurn - due.length;
    due.push(...background.slice(0, others));
    background = background.slice(others);
    return due;
  }

  function queueOf({ query, isBackground }: Pick<ApiRequest, 'query' | 'isBackground'>): (() => void)[] {
    if (isBackground) return background;
    const writer = String(query?.['fieldManager'] ?? '');
    let requests = waiting.get(writer);
    if (!requests) waiting.set(writer, (requests = []));
    return requests;
  }

  return {
    take(request) {
      if (!isUnderWay) begin();
      if (left === 0) return new Promise((resolve) => queueOf(request).push(resolve));
      left--;
      return undefined;
    },
  };
}

/** A way to the server whose requests take turns. Watches only wait, and need none. */
export function takingTurns(turns: Turns, transport: Transport): Transport {
  return {
    async request(request) {
      const turn = turns.take(request);
      if (turn) await turn;
      return transport.request(request);
    },
    watch: (request) => transport.watch(request),
  };
}
