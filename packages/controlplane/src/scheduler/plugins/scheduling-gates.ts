import type { Pod } from '@kruise/api/core/pod';
import type { Plugin } from '../plugin.ts';

/** Keeps a Pod from being tried while anybody's gate is on it. */
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
