import type { Plugin } from '../plugin.ts';

/** Keeps a Pod from being tried while others are being made to leave for it. Whom, is decided in `preemption.ts`. */
export function defaultPreemption(preempting: ReadonlySet<string>): Plugin {
  return {
    name: 'DefaultPreemption',
    preEnqueue: ({ uid }) =>
      preempting.has(uid) ? 'waiting for the preemption for this pod to be finished' : undefined,
  };
}
