/**
 * Lets requests go last that nobody waits for. Where a thousand Pods start there are more events to write than all else
 * together, and Pods are not to be late for what is told of them.
 */
import { createDeque } from '@kruise/client/deque';
import type { Clock } from '@kruise/values/clock';

export type Background = {
  /** Somebody waits for what is done from here on, until the returned function is called. */
  somebodyWaits(): () => void;
  /** Resolves when it is the turn of what nobody waits for; the returned function says that it is done. */
  turn(): Promise<() => void>;
};

/** How many go at once when there is nothing else to do: more would only be in the way of what comes next. */
const maxAtOnce = 8;
/** While there is, one goes after so many others. */
const othersForEach = 16;
/** Where others take long without being many, one goes after so long all the same. */
const patienceMs = 1000;

type Waiting = { isGoing: boolean; go(): void };

/** Calls back after a moment, or at once where time is not real. */
export type Pause = (callback: () => void) => void;

/**
 * Whether there is nothing else to do is known after a pause in which nobody has asked for anything: where work is done
 * in steps nobody waits between the answers to one step and the requests of the next.
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
