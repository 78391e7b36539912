import type { Node, Taint } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { isTolerated } from '@kruise/machinery/tolerations';
import type { Plugin } from '../plugin.ts';

const name = 'NodeUnschedulable';
const rejection = { plugin: name, isPreemptable: false, reasons: ['node(s) were unschedulable'] };
const taint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** NodeUnschedulable plugin: rejects cordoned nodes (`kubectl cordon`), unless the Pod tolerates that. */
export const nodeUnschedulable: Plugin = {
  name,
  isLocal: true,
  filter({ spec }) {
    if (isTolerated(taint, spec.tolerations)) return undefined;
    return { filter: { check: ({ isUnschedulable }) => (isUnschedulable ? rejection : undefined) } };
  },
  events: [
    {
      resource: 'Node',
      actions: ['Add', 'UpdateNodeTaint'],
      helps(_pod, { before, after }) {
        const was = before as Node | undefined;
        const is = after as Node | undefined;
        return !is?.spec?.unschedulable && (was === undefined || was.spec?.unschedulable === true);
      },
    },
    {
      resource: 'Pod',
      actions: ['UpdatePodToleration'],
      helps({ uid }, { after }) {
        const changed = after as Pod | undefined;
        return changed?.metadata.uid === uid && isTolerated(taint, changed.spec?.tolerations);
      },
    },
  ],
};
