import type { Pod } from '@kruise/api/core/pod';
import type { Plugin } from '../plugin.ts';

/** SchedulingGates plugin: keeps a Pod out of the active queue while it has scheduling gates. */
export const schedulingGates: Plugin = {
  name: 'SchedulingGates',
  preEnqueue({ spec: { schedulingGates: gates } }) {
    if (!gates?.length) return undefined;
    return `waiting for scheduling gates: [${gates.map(({ name }) => name).join(' ')}]`;
  },
  events: [
    {
      resource: 'Pod',
      actions: ['UpdatePodSchedulingGatesEliminated'],
      helps: ({ uid }, { after }) => (after as Pod | undefined)?.metadata.uid === uid,
    },
  ],
};
