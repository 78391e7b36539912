import { flattenSteps, type Step } from '@kruise/client/actions';

/** Summarizes actions for tests: `create web-`, `delete web-1`, `effect rescale`. */
export function summarizeActions(steps: readonly Step[]): readonly string[] {
  return flattenSteps(steps).map((action) => {
    switch (action.type) {
      case 'record':
        return `record ${action.event.reason}`;
      case 'effect':
        return `effect ${action.name}`;
      case 'remove':
        return `delete ${nameOf(action.object)}`;
      default:
        return `${action.type} ${nameOf(action.object)}`;
    }
  });
}

/** Summarizes actions and counts equal ones: `create web- ×3`. */
export function countActions(steps: readonly Step[]): string {
  const counts = Map.groupBy(summarizeActions(steps), (words) => words);
  return [...counts].map(([words, { length }]) => (length === 1 ? words : `${words} ×${length}`)).join(', ');
}

function nameOf({
  metadata,
}: {
  readonly metadata: { readonly name?: string; readonly generateName?: string };
}): string {
  return metadata.name ?? metadata.generateName ?? '';
}
