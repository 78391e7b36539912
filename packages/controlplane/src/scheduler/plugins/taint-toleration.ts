import type { Node, Taint } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { findUntolerated, forbiddingEffects, isTolerated } from '@kruise/machinery/tolerations';
import type { NodeInfo } from '../cluster/node-info.ts';
import { normalizeByGreatest, type Plugin, type Rejection } from '../plugin.ts';

const name = 'TaintToleration';

/**
 * TaintToleration plugin: rejects nodes with taints that the Pod does not tolerate, and prefers nodes without
 * PreferNoSchedule taints.
 */
export const taintToleration: Plugin = {
  name,
  isLocal: true,
  filter({ spec }) {
    const check = ({ taints }: NodeInfo): Rejection | undefined => {
      if (taints.length === 0) return undefined;
      const taint = findUntolerated(taints, spec.tolerations, forbiddingEffects);
      return taint && rejectionFor(taint);
    };
    return { filter: { check } };
  },
  score({ spec }) {
    const tolerations = spec.tolerations?.filter(({ effect }) => !effect || effect === 'PreferNoSchedule');
    const isAvoided = (taint: Taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations);
    return {
      score: ({ taints }) => (taints.length === 0 ? 0 : taints.filter(isAvoided).length),
      normalize: (scores) => normalizeByGreatest(scores, { isReversed: true }),
    };
  },
  events: [
    {
      resource: 'Node',
      actions: ['Add', 'UpdateNodeTaint'],
      helps({ spec: { tolerations } }, { before, after }) {
        const taintsOf = (node: unknown) => (node as Node | undefined)?.spec?.taints;
        const isForbidden = (node: unknown) => findUntolerated(taintsOf(node), tolerations, forbiddingEffects);
        return !isForbidden(after) && (before === undefined || isForbidden(before) !== undefined);
      },
    },
    {
      resource: 'Pod',
      actions: ['UpdatePodToleration'],
      helps: ({ uid }, { after }) => (after as Pod | undefined)?.metadata.uid === uid,
    },
  ],
};

function rejectionFor({ key, value = '' }: Taint): Rejection {
  const reason = `node(s) had untolerated taint {${key}: ${value}}`;
  return { plugin: name, isPreemptable: false, reasons: [reason] };
}
