/** Which parts of a cluster a world has reached: what each controller looked at, and what it decided to do. */
import type { Controller, Decision, Runnable } from '@kruise/client/controller';

/** How often each was reached, by name. */
export type Reached = { [what: string]: number };

/** Counts what a controller does. */
export function counting(reached: Reached) {
  const count = (what: string) => {
    reached[what] = (reached[what] ?? 0) + 1;
  };
  return (controller: Controller | Runnable): Controller | Runnable => {
    if (!('consider' in controller)) return controller;
    const { name } = controller;
    const note = ({ actions, status, requeueAfterSeconds }: Decision) => {
      for (const action of actions) {
        if (action.type === 'record' || action.type === 'effect') count(`${name}: ${action.type}`);
        else count(`${name}: ${action.type} ${action.object.kind}`);
      }
      if (actions.length === 0) count(`${name}: ${status === undefined ? 'nothing' : 'status'}`);
      if (requeueAfterSeconds !== undefined) count(`${name}: look again later`);
    };
    return {
      ...controller,
      consider(context, key) {
        const considered = controller.consider(context, key);
        if (considered instanceof Promise) {
          return considered.then((result) => {
            note(result.decision);
            return result;
          });
        }
        if (considered) note(considered.decision);
        return considered;
      },
    };
  };
}

/** Adds what was reached in one world to what was in others. */
export function addReached(total: Reached, more: Readonly<Reached>): void {
  for (const [what, count] of Object.entries(more)) total[what] = (total[what] ?? 0) + count;
}
