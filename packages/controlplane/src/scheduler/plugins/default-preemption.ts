import type { Plugin } from '../plugin.ts';

/**
 * DefaultPreemption plugin: keeps a Pod out of the active queue while its victims are being evicted. `preemption.ts`
 * selects the victims.
 */
export function defaultPreemption(preempting: ReadonlySet<string>): Plugin {
  return {
    name: 'DefaultPreemption',
    preEnqueue: ({ uid }) =>
      preempting.has(uid) ? 'waiting for the preemption for this pod to be finished' : undefined,
  };
}
