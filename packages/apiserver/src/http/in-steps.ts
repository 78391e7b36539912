import { setImmediate } from 'node:timers/promises';
import type { Steps } from '@kruise/schema/openapi/steps';

/** Lets the event loop poll sockets and serve other requests. */
export type Pause = () => Promise<unknown>;

/** Runs work in steps, with a pause after each, so that no other request waits for the whole. */
export async function runInSteps<T>(steps: Steps<T>, pause: Pause = () => setImmediate()): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pause();
  }
}
