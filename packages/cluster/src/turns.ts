import { createTurns, type Line, type Turns } from '@kruise/apiserver/turns';
import type { ApiRequest, Transport } from '@kruise/client/transport';

/** What tells who goes first. */
type Claim = Pick<ApiRequest, 'query' | 'isBackground'>;

/**
 * How many requests are begun before sockets are looked at: some tens of milliseconds of work. With half as many, writes
 * are stored in smaller groups, which takes a tenth more processor time.
 */
const requestsPerTurn = 128;
/** As many of them as are in the background, at least, so that those are never kept waiting for ever. */
const inBackground = 8;

/**
 * Has those who live in the server's process take turns with everyone outside. A request in one process is answered
 * without coming back to where the process looks at its sockets, and the answer leads to the next: thousands of them
 * would keep a client from outside waiting for seconds. Among themselves those who write go one after the other too.
 */
export function createRequestTurns(): Turns<Claim> {
  return createTurns(requestsPerTurn, byWriter());
}

/** One of each writer after the other: who has little to write does not wait behind those who have much. */
function byWriter(): Line<Claim> {
  const waiting = new Map<string, (() => void)[]>();
  let background: (() => void)[] = [];
  return {
    add({ query, isBackground }, go) {
      if (isBackground) {
        background.push(go);
        return;
      }
      const writer = String(query?.['fieldManager'] ?? '');
      const requests = waiting.get(writer);
      if (requests) requests.push(go);
      else waiting.set(writer, [go]);
    },
    next(most) {
      const due: (() => void)[] = [];
      const room = most - Math.min(inBackground, background.length);
      // A writer that has more comes back last, and is met again.
      for (const [writer, requests] of waiting) {
        waiting.delete(writer);
        due.push(requests.shift()!);
        if (requests.length > 0) waiting.set(writer, requests);
        if (due.length === room) break;
      }
      const others = most - due.length;
      due.push(...background.slice(0, others));
      background = background.slice(others);
      return due;
    },
  };
}

/** A way to the server whose requests take turns. Watches only wait, and need none. */
export function takingTurns(turns: Turns<Claim>, transport: Transport): Transport {
  return {
    async request(request) {
      const turn = turns.take(request);
      if (turn) await turn;
      return transport.request(request);
    },
    watch: (request) => transport.watch(request),
  };
}
