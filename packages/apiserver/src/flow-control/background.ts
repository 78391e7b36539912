/**
 * Background requests: runs requests that no client waits for at low priority. When a thousand Pods start, events
 * outnumber all other writes, and Pods must not wait for the events about them.
 */

import type { Clock } from '@kruise/values/clock';
import { createDeque } from '@kruise/values/scheduling/deque';

export type BackgroundScheduler = {
  /** Registers a foreground request, until the returned function is called. */
  beginForeground(): () => void;
  /** Resolves when a background request may run; the returned function ends it. */
  beginBackground(): Promise<() => void>;
};

/**
 * Maximum number of concurrent background requests while the server is idle: more would delay the next foreground
 * request.
 */
const maxConcurrent = 8;
/** Number of foreground requests per background request while the server is busy. */
const foregroundPerBackground = 16;
/** Maximum wait of a background request when foreground requests are few but slow. */
const maxWaitMs = 1000;

type QueuedRequest = { hasStarted: boolean; start(): void };

/** Calls back after a short pause, or at once in simulated time. */
export type Pause = (callback: () => void) => void;

/**
 * Creates the scheduler of background requests. The server counts as idle after a pause without requests: a client that
 * works in steps has no request in flight between two steps.
 */
export function createBackgroundScheduler(clock: Clock, pause: Pause = (callback) => callback()): BackgroundScheduler {
  const waiting = createDeque<QueuedRequest>();
  let foreground = 0;
  let foregroundTotal = 0;
  let foregroundSinceStart = 0;
  let foregroundAtIdle = 0;
  let isCheckingIdle = false;
  let running = 0;

  const startNext = (): void => {
    let next = waiting.shift();
    while (next?.hasStarted) next = waiting.shift();
    next?.start();
  };
  const checkIdleAfterPause = (): void => {
    const totalBefore = foregroundTotal;
    isCheckingIdle = true;
    pause(() => {
      isCheckingIdle = false;
      if (foregroundTotal === totalBefore) foregroundAtIdle = totalBefore;
      startWhileIdle();
    });
  };
  const startWhileIdle = (): void => {
    if (foreground > 0 || isCheckingIdle || waiting.size === 0) return;
    if (foregroundTotal !== foregroundAtIdle) checkIdleAfterPause();
    else while (running < maxConcurrent && waiting.size > 0) startNext();
  };
  const done = (): void => {
    running--;
    startWhileIdle();
  };

  return {
    beginForeground() {
      foreground++;
      foregroundTotal++;
      return () => {
        foreground--;
        if (++foregroundSinceStart >= foregroundPerBackground) {
          foregroundSinceStart = 0;
          startNext();
        }
        startWhileIdle();
      };
    },
    beginBackground: () =>
      new Promise((resolve) => {
        const cancel = clock.setTimer(maxWaitMs, () => entry.start());
        const entry: QueuedRequest = {
          hasStarted: false,
          start() {
            cancel();
            entry.hasStarted = true;
            running++;
            resolve(done);
          },
        };
        waiting.push(entry);
        startWhileIdle();
      }),
  };
}
