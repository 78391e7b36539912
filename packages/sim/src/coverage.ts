/** Coverage of a simulation: which objects each controller reconciled, and which actions it decided. */
import { flattenSteps } from '@kruise/client/actions';
import type { Controller, Decision, Runnable } from '@kruise/client/controller';

/** Number of occurrences by name. */
export type Coverage = { [what: string]: number };

/** Counts the actions of a controller. */
export function countActions(reached: Coverage) {
  const count = (what: string) => {
    reached[what] = (reached[what] ?? 0) + 1;
  };
  return (controller: Controller | Runnable): Controller | Runnable => {
    if (!('evaluate' in controller)) return controller;
    const { name } = controller;
    const note = ({ actions, status, requeueAfterSeconds }: Decision) => {
      for (const action of flattenSteps(actions)) {
        if (action.type === 'record' || action.type === 'effect') count(`${name}: ${action.type}`);
        else count(`${name}: ${action.type} ${action.object.kind}`);
      }
      if (actions.length === 0) count(`${name}: ${status === undefined ? 'no change' : 'status'}`);
      if (requeueAfterSeconds !== undefined) count(`${name}: requeue`);
    };
    return {
      ...controller,
      evaluate(context, key) {
        const considered = controller.evaluate(context, key);
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

/** Adds the coverage of one simulation to a total. */
export function addCoverage(total: Coverage, more: Readonly<Coverage>): void {
  for (const [what, count] of Object.entries(more)) total[what] = (total[what] ?? 0) + count;
}
