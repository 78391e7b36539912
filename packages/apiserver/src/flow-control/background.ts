/**
 * Background requests: runs requests that no client waits for at low priority. When a thousand Pods start, events
 * outnumber all other writes, and Pods must not wait for the events about them.
 */
import { createDeque } from '@kruise/client/deque';
import type { Clock } from '@kruise/values/clock';

export type Background = {
  /** Registers a foreground request, until the returned function is called. */
  somebodyWaits(): () => void;
  /** Resolves when a background request may run; the returned function ends it. */
  turn(): Promise<() => void>;
};

/**
 * Maximum number of concurrent background requests while the server is idle: more would delay the next foreground
 * request.
 */
const maxAtOnce = 8;
/** Number of foreground requests per background request while the server is busy. */
const othersForEach = 16;
/** Maximum wait of a background request when foreground requests are few but slow. */
const patienceMs = 1000;

type Waiting = { isGoing: boolean; go(): void };

/** Calls back after a short pause, or at once in simulated time. */
export type Pause = (callback: () => void) => void;

/**
 * Creates the scheduler of background requests. The server counts as idle after a pause without requests: a client that
 * works in steps has no request in flight between two steps.
 */
export function createBackground(clock: Clock, pause: Pause = (callback) => callback()): Background {
  const waiting = createDeque<Waiting>();
  let others = 0;
  let othersSoFar = 0;
  let othersSince = 0;
  let othersWhenQuiet = 0;
  let isLooking = false;
  let underWay = 0;

  const goNext = (): void => {
    let next = waiting.shift();
    while (next?.isGoing) next = waiting.shift();
    next?.go();
  };
  const lookAfterPause = (): void => {
    const soFar = othersSoFar;
    isLooking = true;
    pause(() => {
      isLooking = false;
      if (othersSoFar === soFar) othersWhenQuiet = soFar;
      goWhileQuiet();
    });
  };
  const goWhileQuiet = (): void => {
    if (others > 0 || isLooking || waiting.size === 0) return;
    if (othersSoFar !== othersWhenQuiet) lookAfterPause();
    else while (underWay < maxAtOnce && waiting.size > 0) goNext();
  };
  const done = (): void => {
    underWay--;
    goWhileQuiet();
  };

  return {
    somebodyWaits() {
      others++;
      othersSoFar++;
      return () => {
        others--;
        if (++othersSince >= othersForEach) {
          othersSince = 0;
          goNext();
        }
        goWhileQuiet();
      };
    },
    turn: () =>
      new Promise((resolve) => {
        const cancel = clock.setTimer(patienceMs, () => entry.go());
        const entry: Waiting = {
          isGoing: false,
          go() {
            cancel();
            entry.isGoing = true;
            underWay++;
            resolve(done);
          },
        };
        waiting.push(entry);
        goWhileQuiet();
      }),
  };
}
